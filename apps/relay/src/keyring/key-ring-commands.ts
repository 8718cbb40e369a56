import type { Terminal } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { addAddingRecoveryKey } from './commands/add-recovery-key.js';
import { addBringingKeys } from './commands/bring-keys.js';
import { addExportingStockKeys } from './commands/export-stock-keys.js';
import { addChangingKeys } from './commands/key-changing-commands.js';
import { addInspectingKeys } from './commands/key-inspecting-commands.js';
import { addMovingRing } from './commands/move-ring.js';
import { addRemovingUnreadable } from './commands/remove-unreadable.js';
import { addReplacingSecrets } from './commands/replace-secrets.js';

/** Adds the commands of `keys`: the key ring, its rotation, and everything that is done when a key is lost or stolen. */
export function addKeyCommands(keys: Command, terminal: Terminal): void {
  addBringingKeys(keys, terminal);
  addInspectingKeys(keys, terminal);
  addChangingKeys(keys, terminal);
  addAddingRecoveryKey(keys, terminal);
  addReplacingSecrets(keys, terminal);
  addMovingRing(keys, terminal);
  addRemovingUnreadable(keys, terminal);
  addExportingStockKeys(keys, terminal);
}
