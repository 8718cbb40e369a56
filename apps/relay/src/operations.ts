import {
  type AnyOperation,
  type BoundOperation,
  bindOperations,
  openApiOperation,
  referenceOperation,
} from '@waxwing/service/http';
import { bindAdminOperations } from './admin-socket/bind-admin-operations.js';
import type { RelayContext } from './context.js';
import { findApps } from './deliveries/requests/apps-operation.js';
import { notify } from './deliveries/requests/notify-operation.js';
import { findReceipts } from './deliveries/requests/receipts-operation.js';
import { keyOperations } from './keyring/administration/key-operations.js';
import { getKeyList } from './keyring/list/key-list-operation.js';
import type { OpenKeyRing } from './keyring/open-key-ring.js';
import { notifyPlaintext, testPlaintext } from './plaintext/notify-operations.js';
import {
  registerPlaintext,
  unregisterAllPlaintext,
  unregisterPlaintext,
} from './plaintext/register-operations.js';
import { registerDevice } from './registrations/operations/register-device.js';
import { registerDevices } from './registrations/operations/register-devices.js';
import { removeDevices } from './registrations/operations/remove-devices.js';
import { revokeRegistrations } from './registrations/operations/revoke-registrations.js';
import { deactivateServer } from './servers/deactivate-operation.js';
import { registerServer } from './servers/joining/register-operation.js';
import { startTransfer, verifyChallenge } from './servers/joining/transfer-operations.js';
import { getAnalyticsStatus, postAnalytics } from './servers/stock/analytics-operations.js';

type AdminContext = OpenKeyRing['admin'];

/** Operations that stock servers call when they join, in their hourly job, and in their workers. */
const stockServerOperations: readonly AnyOperation<RelayContext>[] = [
  registerServer,
  startTransfer,
  verifyChallenge,
  deactivateServer,
  getAnalyticsStatus,
  postAnalytics,
  registerPlaintext,
  unregisterPlaintext,
  unregisterAllPlaintext,
  notifyPlaintext,
  testPlaintext,
];

/** All operations that servers and phones call. */
export const relayOperations: readonly AnyOperation<RelayContext>[] = [
  registerDevice,
  registerDevices,
  removeDevices,
  revokeRegistrations,
  notify,
  findReceipts,
  findApps,
  getKeyList,
  ...stockServerOperations,
];

/** Operations of the admin socket. No network listener serves them; the dashboard has its own operations. */
export const relayAdminOperations: readonly AnyOperation<AdminContext>[] = keyOperations;

/** Metadata of the relay's OpenAPI document. */
export const relayApi = {
  title: 'Waxwing relay',
  description: 'Accepts sealed push registrations and encrypted notifications from servers, for one app.',
  version: '1',
  // Servers treat a 429 as final, and retry after a 503.
  statuses: { RATE_LIMIT_HIT: 503 },
};

/** Metadata of the admin socket's OpenAPI document. */
export const relayAdminApi = {
  title: 'Waxwing relay, administration',
  description:
    'Requests that commands send to the relay on the same machine, only over its Unix socket (RELAY_KEY_ADMIN_SOCKET).',
  version: '1',
};

/** Binds the relay's operations, their OpenAPI document and its page to the context. */
export function bindRelayOperations(context: RelayContext): BoundOperation[] {
  return bindOperations(context, [
    ...relayOperations,
    openApiOperation(relayApi, relayOperations),
    referenceOperation(relayApi, relayOperations),
  ]);
}

/** Binds the admin operations and their OpenAPI document to the context. */
export function bindRelayAdminOperations(context: AdminContext): BoundOperation[] {
  return bindAdminOperations(context, [
    ...relayAdminOperations,
    openApiOperation(relayAdminApi, relayAdminOperations),
  ]);
}
