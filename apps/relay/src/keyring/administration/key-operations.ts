import type { AnyOperation } from '@waxwing/service/http';
import { addRecoveryKey } from './add-recovery-key.js';
import { importPlainKeys, mendRingDates, retireKey, revokeKey, rotateKeys } from './change-keys.js';
import { exportPublic, verifyRing } from './inspect-keys.js';
import type { KeyAdmin } from './key-admin.js';
import { listKeys } from './list-keys.js';
import { replaceSigningKey, rotateTokenKey } from './signing-and-token-keys.js';
import { listVapidKeys, removeVapidKey } from './vapid-operations.js';

/** All admin operations on the key ring of a running relay. */
export const keyOperations: readonly AnyOperation<KeyAdmin>[] = [
  listKeys,
  exportPublic,
  verifyRing,
  rotateKeys,
  retireKey,
  revokeKey,
  importPlainKeys,
  mendRingDates,
  addRecoveryKey,
  replaceSigningKey,
  rotateTokenKey,
  listVapidKeys,
  removeVapidKey,
];
