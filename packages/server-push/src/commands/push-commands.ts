import { CommandError } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { addAccountCommands } from './account-commands.js';
import { addEnableCommand } from './enable-command.js';
import type { PushProgram } from './push-program.js';
import { addStatusCommand } from './status-command.js';

/** Adds the commands `enable`, `status`, `test`, `disable` and `rotate-credentials`. */
export function addPushCommands(push: Command, program: PushProgram): void {
  const explaining: PushProgram = {
    ...program,
    withPush: (work) => program.withPush(work).catch(explain),
  };
  addEnableCommand(push, explaining);
  addStatusCommand(push, explaining);
  addAccountCommands(push, explaining);
}

/** Throws a CommandError if the relay refused. Rethrows other errors. */
async function explain(error: unknown): Promise<never> {
  const { PushAccountError } = await import('../relay-account/account-errors.js');
  throw error instanceof PushAccountError ? new CommandError(error.message, { cause: error }) : error;
}
