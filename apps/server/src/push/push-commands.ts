import { addPushCommands } from '@waxwing/server-push/commands';
import type { Terminal } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { pushProgram } from './push-program.js';
import { addSendCommand } from './send-command.js';

/** Adds the commands `waxwing-server push enable|status|test|send|disable|rotate-credentials`. */
export function addServerPushCommands(push: Command, terminal: Terminal): void {
  addPushCommands(push, pushProgram(terminal));
  addSendCommand(push, terminal);
}
