import {
  type AnyOperation,
  type BoundOperation,
  bindOperations,
  openApiOperation,
} from '@waxwing/service/http';
import { bindAdminOperations } from './admin-socket/bind-admin-operations.js';
import type { RelayContext } from './context.js';
import { notify } from './deliveries/requests/notify-operation.js';
import { findReceipts } from './deliveries/requests/receipts-operation.js';
import { keyOperations } from './keyring/administration/key-operations.js';
import { getKeyList } from './keyring/list/key-list-operation.js';
import type { OpenKeyRing } from './keyring/open-key-ring.js';
import { registerDevice } from './registrations/operations/register-device.js';
import { registerDevices } from './registrations/operations/register-devices.js';
import { removeDevices } from './registrations/operations/remove-devices.js';

type AdminContext = OpenKeyRing['admin'];

/** Every operation of the relay that servers and phones reach. */
export const relayOperations: readonly AnyOperation<RelayContext>[] = [
  registerDevice,
  registerDevices,
  removeDevices,
  notify,
  findReceipts,
  getKeyList,
];

/** Every operation for operators. The admin socket serves them, and no listener that has an address. */
export const relayAdminOperations: readonly AnyOperation<AdminContext>[] = keyOperations;

/** What the relay's OpenAPI document says of it as a whole. */
export const relayApi = {
  title: 'Waxwing relay',
  description: 'Takes sealed push registrations and encrypted notifications from servers, for one app.',
  version: '1',
  // Servers take a 429 for final, and try again after a 503.
  statuses: { RATE_LIMIT_HIT: 503 },
};

/** The same of the document that the admin socket serves. */
export const relayAdminApi = {
  title: 'Waxwing relay, administration',
  description:
    'What commands on the machine of a relay ask of the one that runs, over its Unix socket (RELAY_KEY_ADMIN_SOCKET). It is served nowhere else.',
  version: '1',
};

/** The operations with what they work with. */
export function bindRelayOperations(context: RelayContext): BoundOperation[] {
  return bindOperations(context, [...relayOperations, openApiOperation(relayApi, relayOperations)]);
}

/** The operations for operators with what they work with. */
export function bindRelayAdminOperations(context: AdminContext): BoundOperation[] {
  return bindAdminOperations(context, [
    ...relayAdminOperations,
    openApiOperation(relayAdminApi, relayAdminOperations),
  ]);
}
