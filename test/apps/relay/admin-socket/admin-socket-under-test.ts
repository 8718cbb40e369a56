import type { HttpLimits } from '@waxwing/service/http-settings';
import { Metrics } from '@waxwing/service/metrics';
import { askAdminSocket } from '#relay/admin-socket/ask-admin-socket.js';
import { openAdminSocket } from '#relay/admin-socket/open-admin-socket.js';
import { listKeys } from '#relay/keyring/administration/list-keys.js';
import { bindRelayAdminOperations } from '#relay/operations.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { ringOnDisk, sodium, startedAt } from '../keyring/ring-material.js';

/** Context for the relay's admin operations, with a key ring in a new folder. */
export async function keyAdminOnDisk() {
  const disk = await ringOnDisk();
  const admin = {
    keeper: disk.keeper,
    sodium,
    clock: () => startedAt,
    readKeyUses: async () => new Map(),
    takeOver: async () => undefined,
    recordAct: async () => undefined,
  };
  return { ...disk, admin };
}

/** Opens the admin socket as a relay does. Returns the socket with its log and metrics. */
export async function adminSocketAt(path: string, limits: Partial<HttpLimits> = {}) {
  const { admin, keeper } = await keyAdminOnDisk();
  const { log, text } = createMemoryLog();
  const metrics = new Metrics();
  const operations = bindRelayAdminOperations(admin);
  const socket = await openAdminSocket(path, { log, metrics, operations, limits, readiness: {} });
  return {
    keeper,
    logged: text,
    metrics,
    isServing: socket !== undefined,
    close: async () => socket?.close(),
  };
}

/** Sends the same request as `keys list`. Resolves to `undefined` if no relay listens. */
export function listThrough(path: string) {
  return askAdminSocket(path, { declared: listKeys, form: {}, operatorName: 'test' });
}
