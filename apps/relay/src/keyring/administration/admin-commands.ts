import { importPlainKeys, mendRingDates, retireKey, revokeKey, rotateKeys } from './change-keys.js';
import { exportPublic, verifyRing } from './inspect-keys.js';
import { listKeys } from './list-keys.js';
import { replaceSigningKey, rotateTokenKey } from './signing-and-token-keys.js';

/** Everything that a running relay does to its key ring when a command asks, by name. */
export const adminCommands = {
  list: listKeys,
  rotate: rotateKeys,
  retire: retireKey,
  revoke: revokeKey,
  import: importPlainKeys,
  'mend-dates': mendRingDates,
  'export-public': exportPublic,
  verify: verifyRing,
  'rotate-signing-key': replaceSigningKey,
  'rotate-token-key': rotateTokenKey,
} as const;

export type AdminCommandName = keyof typeof adminCommands;
