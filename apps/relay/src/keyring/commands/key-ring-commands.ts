import type { Terminal } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { addChangingKeys } from './key-changing-commands.js';
import { addInspectingKeys } from './key-inspecting-commands.js';
import { addBringingKeys, addMovingRing, addReplacingSecrets } from './ring-commands.js';

/** Adds the `keys` commands: key ring, rotation, and recovery from lost or stolen keys. */
export function addKeyCommands(keys: Command, terminal: Terminal): void {
  addBringingKeys(keys, terminal);
  addInspectingKeys(keys, terminal);
  addChangingKeys(keys, terminal);
  addReplacingSecrets(keys, terminal);
  addMovingRing(keys, terminal);
}
