import type { Terminal } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { type AskedChangeFlags, type ChangeFlags, withConsent, withDryRun } from './output.js';
import type {
  ExportFlags,
  ImportFlags,
  MoveFlags,
  NewRingFlags,
  RewrapFlags,
  SigningFlags,
} from './ring-flags.js';

// Each command imports its code lazily, so that `--help` stays fast.

/** Adds `init`, `import` and `add-recovery-key`. */
export function addBringingKeys(keys: Command, terminal: Terminal): void {
  const bring = () => import('./bring-keys.js');
  withNewRing(keys.command('init'))
    .description('create the key ring with fresh keys, and the identity file if it is missing')
    .option(
      '--recovery-key <new-file>',
      'also create a recovery key, and write its private half to this file',
    )
    .action(async (flags: NewRingFlags) => (await bring()).makeFreshRing(terminal, flags));
  withNewRing(keys.command('import'))
    .description('import the keys of a plain file (see keys.example) or of a stock relay')
    .argument('<file>', 'the file')
    .option('--primary <public-key>', 'the imported key that clients should use')
    .action(async (file: string, flags: ImportFlags) => (await bring()).importFile(terminal, file, flags));
  withDryRun(keys.command('add-recovery-key'))
    .description(
      'add a recovery key to a ring that has none; the key list publishes it, and the next release of the app pins it',
    )
    .argument('<new-file>', "file for the recovery key's private half; move it off this machine")
    .action(async (file: string, flags: ChangeFlags) =>
      (await import('./add-recovery-key.js')).giveRecoveryKey(terminal, file, flags),
    );
}

function withNewRing(command: Command): Command {
  return withDryRun(command).option(
    '--yes-lose-devices',
    'create a new ring even if the database contains devices, whose tokens the new ring cannot open',
  );
}

/** Adds `rotate-signing-key`, `rotate-token-key` and `rewrap`. */
export function addReplacingSecrets(keys: Command, terminal: Terminal): void {
  const replace = () => import('./replace-secrets.js');
  withConsent(keys.command('rotate-signing-key'))
    .description('replace the key that signs the key list; the old key endorses the new key')
    .option(
      '--recovery-key <file>',
      'if the old key was stolen: endorse the new key with this recovery key, and revoke the old key',
    )
    .action(async (flags: SigningFlags) => (await replace()).rotateKeyOfList(terminal, flags));
  withDryRun(keys.command('rotate-token-key'))
    .description('create a new token key; the relay re-encrypts the push tokens in the database row by row')
    .action(async (flags: ChangeFlags) => (await replace()).rotateKeyOfTokens(terminal, flags));
  withConsent(keys.command('rewrap'))
    .description(
      'encrypt the ring for the first identity or passphrase in its current file or in another file',
    )
    .option('--to-identity-file <file>', 'an age identity file, created if it is missing')
    .option('--to-passphrase-file <file>', 'a file with a passphrase')
    .action(async (flags: RewrapFlags) => (await replace()).rewrap(terminal, flags));
}

/** Adds `move`, `remove-unreadable` and `export-stock`. */
export function addMovingRing(keys: Command, terminal: Terminal): void {
  withConsent(keys.command('move'))
    .description(
      'move the key ring to another location; running relays keep using it until they are restarted',
    )
    .requiredOption('--to <place>', 'database, or file:PATH')
    .option('--remove-old', 'destroy the copy at the old location, which is otherwise kept')
    .action(async (flags: MoveFlags) => (await import('./move-ring.js')).moveRing(terminal, flags));
  withConsent(keys.command('remove-unreadable'))
    .description(
      'remove the devices whose stored tokens the ring cannot open; each server learns this at its next notification',
    )
    .action(async (flags: AskedChangeFlags) =>
      (await import('./remove-unreadable.js')).removeUnreadable(terminal, flags),
    );
  withConsent(keys.command('export-stock'))
    .description(
      "write the keys that open registrations, unencrypted, as a stock relay's {public: private} map",
    )
    .requiredOption('--to <new-file>', 'created with mode 0600')
    .action(async (flags: ExportFlags) =>
      (await import('./export-stock-keys.js')).exportStockKeys(terminal, flags),
    );
}
