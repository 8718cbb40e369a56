import { rm } from 'node:fs/promises';
import { CommandError, printResult, type Terminal } from '@waxwing/service/command-line';
import { readPrivateFile } from '@waxwing/service/config';
import type { RelayDatabase } from '../../tables.js';
import { importPlainKeys } from '../administration/change-keys.js';
import { exportPublic } from '../administration/inspect-keys.js';
import { type KeyAdmin, transitionContext } from '../administration/key-admin.js';
import type { KeyRing, SigningPublicKey } from '../ring/key-ring.js';
import { newKeyRing, newKeyRingOf } from '../ring/new-key-ring.js';
import { parsePlainKeys } from '../ring/plain-keys.js';
import { readKeyRingEnvironmentAlone } from '../storage/key-ring-configuration.js';
import { actorName, runKeyOperation, withKeyAdmin } from './admin-session.js';
import { makeIdentityFile, makeRecoveryKey } from './key-files.js';
import { makeChange } from './output.js';
import type { ImportFlags, NewRingFlags } from './ring-flags.js';

/** `keys init`. */
export function makeFreshRing(terminal: Terminal, flags: NewRingFlags): Promise<void> {
  return makeRing(terminal, flags, ({ sodium, clock }) => newKeyRing(sodium, clock()));
}

/** `keys import FILE`. */
export async function importFile(terminal: Terminal, file: string, flags: ImportFlags): Promise<void> {
  const text = await readPrivateFile(file, 'the keys to import');
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  const readRing = async ({ keeper }: KeyAdmin) => (await keeper.readStored()) !== undefined;
  const hasRing = await withKeyAdmin(terminal, configuration, readRing, { mayCreate: true });
  if (hasRing) {
    const { primary } = flags;
    const form = primary === undefined ? { file: text } : { file: text, primary };
    await makeChange(terminal, flags, { operation: importPlainKeys, form });
  } else {
    await makeRing(terminal, flags, (admin) => {
      const plain = parsePlainKeys(text, admin.sodium);
      return newKeyRingOf(plain, flags.primary, { ...transitionContext(admin), sodium: admin.sodium });
    });
  }
  if (!flags.dryRun) terminal.say(`${file} still contains the unencrypted private keys: destroy it.`);
}

/** Refuses to create a ring if devices are stored: the new ring's token key could not decrypt their tokens. */
async function refuseBesideDevices({ db }: RelayDatabase, location: string): Promise<void> {
  const device = await db.selectFrom('relay_devices').select('id').limit(1).executeTakeFirst();
  if (device === undefined) return;
  throw new CommandError(
    `The relay's database contains devices, but there is no key ring in ${location} that opens their tokens: set RELAY_KEY_RING to the location of the ring that encrypted them (keys move moves a ring), or restore it from a backup. With --yes-lose-devices a new ring is created, and those phones get nothing until they register again.`,
  );
}

/**
 * Stores a new ring with a recovery key and returns the recovery key's public half. Deletes the recovery file if the
 * ring was not stored.
 */
async function storeRing(
  { keeper, sodium }: KeyAdmin,
  ring: KeyRing,
  recoveryFile: string | undefined,
): Promise<SigningPublicKey | undefined> {
  const recoveryPublicKey =
    recoveryFile === undefined ? undefined : await makeRecoveryKey(recoveryFile, sodium);
  const forgetRecoveryKey = async () => recoveryFile !== undefined && (await rm(recoveryFile));
  let isStored: boolean;
  try {
    isStored = await keeper.create({ ...ring, recoveryPublicKey }, actorName());
  } catch (error) {
    // If `create` failed only in writing the audit log, the ring is stored and its recovery key must be kept.
    if ((await keeper.readStored()) === undefined) await forgetRecoveryKey();
    throw error;
  }
  if (isStored) return recoveryPublicKey;
  await forgetRecoveryKey();
  throw new CommandError('Another process has just created a key ring: nothing was changed.');
}

async function makeRing(
  terminal: Terminal,
  flags: NewRingFlags,
  create: (admin: KeyAdmin) => KeyRing,
): Promise<void> {
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  const make = async (admin: KeyAdmin, database: RelayDatabase): Promise<void> => {
    const { location } = admin.keeper.options.store;
    if ((await admin.keeper.readStored()) !== undefined) {
      throw new CommandError(`There is already a key ring in ${location}: nothing was changed.`);
    }
    if (!flags.yesLoseDevices) await refuseBesideDevices(database, location);
    const ring = create(admin);
    if (flags.dryRun) {
      const machines = { changed: false, dry_run: true, keys: ring.bouncerKeys.map(({ id }) => id) };
      return printResult(terminal, flags, {
        machines,
        people: `This would create a key ring in ${location}.`,
      });
    }
    const identityFile = await makeIdentityFile(configuration.unlock);
    const recoveryPublicKey = await storeRing(admin, ring, flags.recoveryKey);
    const made = await runKeyOperation(terminal, exportPublic);
    if (recoveryPublicKey === undefined) {
      terminal.say(
        'The ring has no recovery key: after a theft of the signing key every phone would need an update of the app. Create one with "keys add-recovery-key FILE" before the first release.',
      );
    }
    printResult(terminal, flags, {
      machines: { location, identity_file: identityFile ?? null, ...made },
      people: [
        `The key ring is in ${location}.`,
        ...(identityFile === undefined
          ? []
          : [
              `Its identity is in ${identityFile}: back it up separately from the ring. Neither is of use without the other.`,
            ]),
        ...(flags.recoveryKey === undefined ? [] : [`Move ${flags.recoveryKey} off this machine.`]),
        '',
        'Build these into your app:',
        `  bouncer public key   ${made.bouncer_public_key}`,
        `  signing public key   ${made.signing_public_key}`,
        ...(recoveryPublicKey === undefined ? [] : [`  recovery public key  ${recoveryPublicKey}`]),
      ].join('\n'),
    });
  };
  await withKeyAdmin(terminal, configuration, make, { mayCreate: true });
}
