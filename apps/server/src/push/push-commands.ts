import type { Terminal } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { addAccountCommands } from './account-commands.js';
import { addEnableCommand } from './enable-command.js';
import { addSendCommand } from './send-command.js';
import { addStatusCommand } from './status-command.js';

/** `waxwing-server push enable|status|test|send|disable|rotate-credentials`. */
export function addPushCommands(push: Command, terminal: Terminal): void {
  addEnableCommand(push, terminal);
  addStatusCommand(push, terminal);
  addSendCommand(push, terminal);
  addAccountCommands(push, terminal);
}
