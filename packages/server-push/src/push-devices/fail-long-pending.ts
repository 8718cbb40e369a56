import type { LongPending } from '../registrations/fail-long-pending.js';
import type { AddressedEvent } from '../server-push-options.js';
import type { PushTransaction } from '../tables.js';
import { failLongPending } from './pending-registrations.js';
import { pushDeviceEvent } from './push-device-state.js';

/** Name of the hourly task that fails PushDevices whose forwarding job no longer exists. */
const name = 'push-devices/fail-long-pending';

/** The task that fails pending older-generation registrations whose job no longer exists. */
export const failingPushDevices = {
  name,
  async fail(transaction: PushTransaction, longPending: LongPending): Promise<AddressedEvent[]> {
    const failed = await failLongPending(transaction, longPending);
    return failed.map(({ userId, pushAccountId }) => ({
      event: pushDeviceEvent(pushAccountId, longPending.errorCode),
      audience: [userId],
    }));
  },
};
