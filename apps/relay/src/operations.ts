import {
  type AnyOperation,
  type BoundOperation,
  bindOperations,
  openApiOperation,
} from '@waxwing/service/http';
import type { RelayContext } from './context.js';
import { notify } from './deliveries/requests/notify-operation.js';
import { findReceipts } from './deliveries/requests/receipts-operation.js';
import { getKeyList } from './keyring/key-list-operation.js';
import { registerDevice } from './registrations/register-device.js';
import { removeDevices } from './registrations/remove-devices.js';

/** Every operation of the relay. */
export const relayOperations: readonly AnyOperation<RelayContext>[] = [
  registerDevice,
  removeDevices,
  notify,
  findReceipts,
  getKeyList,
];

/** What the relay's OpenAPI document says of it as a whole. */
export const relayApi = {
  title: 'Waxwing relay',
  description: 'Takes sealed push registrations and encrypted notifications from servers, for one app.',
  version: '1',
};

/** The operations with what they work with. */
export function bindRelayOperations(context: RelayContext): BoundOperation[] {
  return bindOperations(context, [...relayOperations, openApiOperation(relayApi, relayOperations)]);
}
