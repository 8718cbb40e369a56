import { rm } from 'node:fs/promises';
import { CommandError, printResult, type Terminal } from '@waxwing/service/command-line';
import { addRecoveryKey } from '../administration/add-recovery-key.js';
import { exportPublic } from '../administration/inspect-keys.js';
import { readKeyRingEnvironmentAlone } from '../storage/key-ring-configuration.js';
import { runKeyOperation, withKeyAdmin } from './admin-session.js';
import { makeRecoveryKey } from './key-files.js';
import type { ChangeFlags } from './output.js';

/** `keys add-recovery-key FILE`. */
export async function giveRecoveryKey(terminal: Terminal, file: string, flags: ChangeFlags): Promise<void> {
  // Checked first, to avoid creating a useless key file.
  const { recovery_public_key: present } = await runKeyOperation(terminal, exportPublic);
  if (present !== null) {
    throw new CommandError(
      `The ring already has the recovery key ${present}, which phones trust: nothing was changed.`,
    );
  }
  if (flags.dryRun) {
    const machines = { changed: false, dry_run: true, file };
    return printResult(terminal, flags, { machines, people: `This would create a recovery key in ${file}.` });
  }
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  const publicKey = await withKeyAdmin(terminal, configuration, ({ sodium }) =>
    makeRecoveryKey(file, sodium),
  );
  try {
    await runKeyOperation(terminal, addRecoveryKey, { recovery_public_key: publicKey });
  } catch (error) {
    if (!mayYetBeStored(error) && (await isKnownNotToBeStored(terminal, publicKey))) await rm(file);
    throw error;
  }
  printResult(terminal, flags, {
    machines: { changed: true, dry_run: false, file, recovery_public_key: publicKey },
    people: [
      `Move ${file} off this machine, and build this into the next release of your app:`,
      `  recovery public key  ${publicKey}`,
      'The key list contains it from now on: phones that follow the list learn it within days, even with an older release.',
      'A phone that stays offline from now until a theft of the signing key needs an update of the app.',
    ].join('\n'),
  });
}

/**
 * Whether the relay may still store the key, because it disconnected before it responded. Phones trust a stored key, so
 * its private half must not be deleted.
 */
function mayYetBeStored(error: unknown): boolean {
  return error instanceof CommandError && error.cause !== undefined;
}

/**
 * Whether the key is certainly not stored. The operation may fail while writing the audit log, after it has stored the
 * ring.
 */
async function isKnownNotToBeStored(terminal: Terminal, publicKey: string): Promise<boolean> {
  try {
    const { recovery_public_key: stored } = await runKeyOperation(terminal, exportPublic);
    return stored !== publicKey;
  } catch {
    // Unknown, so the caller keeps the file and reports the original error.
    return false;
  }
}
