import { CommandError, printResult, type Terminal } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { addRecoveryKey } from '../administration/add-recovery-key.js';
import { exportPublic } from '../administration/inspect-keys.js';
import { readKeyRingEnvironmentAlone } from '../key-ring-configuration.js';
import { runKeyOperation, withKeyAdmin } from './admin-session.js';
import { makeRecoveryKey } from './key-files.js';
import { type ChangeFlags, withDryRun } from './output.js';

/** Adds `add-recovery-key`. */
export function addAddingRecoveryKey(keys: Command, terminal: Terminal): void {
  withDryRun(keys.command('add-recovery-key'))
    .description(
      'give a ring that was made without a recovery key one, for the next release of the app to pin',
    )
    .argument('<file>', 'a new file for its private half, to be moved off this machine')
    .action((file: string, flags: ChangeFlags) => add(terminal, file, flags));
}

async function add(terminal: Terminal, file: string, flags: ChangeFlags): Promise<void> {
  // Before a file is made that would be of no use.
  const { recovery_public_key: present } = await runKeyOperation(terminal, exportPublic);
  if (present !== null) {
    throw new CommandError(
      `The ring has the recovery key ${present} already, which phones trust: nothing was changed.`,
    );
  }
  if (flags.dryRun) {
    const machines = { changed: false, dry_run: true, file };
    return printResult(terminal, flags, { machines, people: `This would make a recovery key in ${file}.` });
  }
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  const publicKey = await withKeyAdmin(terminal, configuration, ({ sodium }) =>
    makeRecoveryKey(file, sodium),
  );
  await runKeyOperation(terminal, addRecoveryKey, { recovery_public_key: publicKey });
  printResult(terminal, flags, {
    machines: { changed: true, dry_run: false, file, recovery_public_key: publicKey },
    people: [
      `Move ${file} off this machine, and build this into the next release of your app:`,
      `  recovery public key  ${publicKey}`,
      'Phones with an older release do not know it: after a theft of the signing key they need an update.',
    ].join('\n'),
  });
}
