import type { Command } from 'commander';
import { addAccountCommands } from './account-commands.js';
import { addEnableCommand } from './enable-command.js';
import type { PushProgram } from './push-program.js';
import { addStatusCommand } from './status-command.js';

/** Adds `enable`, `status`, `test`, `disable` and `rotate-credentials`. */
export function addPushCommands(push: Command, program: PushProgram): void {
  addEnableCommand(push, program);
  addStatusCommand(push, program);
  addAccountCommands(push, program);
}
