import type { Operation } from '@waxwing/service/http';
import type { RelayContext } from './context.js';
import { notifyOperation } from './deliveries/requests/notify-operation.js';
import { receiptsOperation } from './deliveries/requests/receipts-operation.js';
import { keyListOperation } from './keyring/key-list-operation.js';
import { DurableRegistrations } from './registrations/durable-registrations.js';
import { registerDevice } from './registrations/register-device.js';
import { RegistrationBatches } from './registrations/registration-batches.js';
import { removeDevices } from './registrations/remove-devices.js';

/** Every operation of the relay. */
export function relayOperations(context: RelayContext): Operation[] {
  const registrations = new RegistrationBatches({ ...context, store: new DurableRegistrations(context) });
  const { quotas } = context.deliveries;
  return [
    registerDevice({ servers: context.servers, registrations, quotas }),
    removeDevices({ ...context, quotas }),
    notifyOperation(context),
    receiptsOperation(context),
    keyListOperation(context),
  ];
}
