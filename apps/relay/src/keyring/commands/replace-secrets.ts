import { CommandError, printResult, requireConsent, type Terminal } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { replaceSigningKey, rotateTokenKey } from '../administration/signing-and-token-keys.js';
import type { UnlockFile } from '../key-ring-cipher.js';
import { readKeyRingEnvironmentAlone } from '../key-ring-configuration.js';
import { actorName, withKeyAdmin } from './admin-session.js';
import { makeIdentityFile, readRecoveryKey } from './key-files.js';
import { type AskedChangeFlags, type ChangeFlags, makeChange, withConsent, withDryRun } from './output.js';

interface SigningFlags extends AskedChangeFlags {
  readonly recoveryKey?: string;
}
interface RewrapFlags extends AskedChangeFlags {
  readonly toIdentityFile?: string;
  readonly toPassphraseFile?: string;
}

/** Adds `rotate-signing-key`, `rotate-token-key` and `rewrap`. */
export function addReplacingSecrets(keys: Command, terminal: Terminal): void {
  withConsent(keys.command('rotate-signing-key'))
    .description('replace the key that signs the key list; the old one endorses the new one')
    .option(
      '--recovery-key <file>',
      'the old one was stolen: this one endorses the new one, the old one is revoked',
    )
    .action(async (flags: SigningFlags) => {
      const form =
        flags.recoveryKey === undefined
          ? {}
          : { recovery_private_key: await readRecoveryKey(flags.recoveryKey) };
      await makeChange(terminal, flags, {
        operation: replaceSigningKey,
        form,
        question: 'The private half of the present signing key is destroyed. Go on?',
      });
    });
  withDryRun(keys.command('rotate-token-key'))
    .description('encrypt push tokens in the database with a new key; the relay does it row by row')
    .action((flags: ChangeFlags) => makeChange(terminal, flags, { operation: rotateTokenKey }));
  withConsent(keys.command('rewrap'))
    .description('encrypt the ring for the first identity or passphrase of its file, or of another file')
    .option('--to-identity-file <file>', 'an age identity file, made if it is missing')
    .option('--to-passphrase-file <file>', 'a file with a passphrase')
    .action((flags: RewrapFlags) => rewrap(terminal, flags));
}

async function rewrap(terminal: Terminal, flags: RewrapFlags): Promise<void> {
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  const unlock = newUnlockFile(flags) ?? configuration.unlock;
  const isOther = unlock.path !== configuration.unlock.path;
  const next = isOther
    ? ` Set RELAY_KEY_RING_${unlock.kind.toUpperCase()}_FILE=${unlock.path} and restart every relay of this ring: until then they keep the ring that they have.`
    : '';
  await withKeyAdmin(terminal, configuration, async ({ keeper }) => {
    await keeper.look(() => undefined);
    const made = { changed: !flags.dryRun, dry_run: flags.dryRun ?? false, unlock_file: unlock.path };
    if (!flags.dryRun) {
      await requireConsent(terminal, `The ring will open only with ${unlock.path}. Go on?`, flags.yes);
      if (isOther) await makeIdentityFile(unlock);
      await keeper.rewrap(actorName(), unlock);
    }
    const people = flags.dryRun
      ? `This would encrypt the ring for the first ${unlock.kind} of ${unlock.path}.`
      : `The ring is encrypted for the first ${unlock.kind} of ${unlock.path}.${next}`;
    printResult(terminal, flags, { machines: made, people });
  });
}

function newUnlockFile({ toIdentityFile, toPassphraseFile }: RewrapFlags): UnlockFile | undefined {
  if (toIdentityFile !== undefined && toPassphraseFile !== undefined) {
    throw new CommandError('Give one of --to-identity-file and --to-passphrase-file, not both.');
  }
  if (toIdentityFile !== undefined) return { kind: 'identity', path: toIdentityFile };
  return toPassphraseFile === undefined ? undefined : { kind: 'passphrase', path: toPassphraseFile };
}
