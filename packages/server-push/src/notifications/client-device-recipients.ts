import type { ActiveClientDevice } from '../client-devices/client-device-store.js';
import { freedTokens } from '../client-devices/freed-tokens.js';
import { dropDeadToken } from '../client-devices/pending-tokens.js';
import { enqueueTokenRemoval } from '../client-devices/remove-tokens.js';
import { removalDelayMilliseconds } from '../registrations/removal-jobs.js';
import { type Recipient, type RecipientOptions, tokenAddress } from './recipient.js';
import { sealForKey } from './seal-notification.js';

/** Returns a newer-generation device as the recipient of a notification. */
export function clientDeviceRecipient(
  { clock, database, publish, sodium }: RecipientOptions,
  device: ActiveClientDevice,
): Recipient {
  return {
    row: { table: 'client_devices', id: device.id },
    only: { device_id: device.id },
    address: tokenAddress(device.push_token_id),
    seal: (type, encoded) => sealForKey(sodium, device, type, encoded),
    async drop(transaction) {
      const now = clock();
      const runAt = now + removalDelayMilliseconds;
      const freed = freedTokens(device, [device.push_token_id]);
      await enqueueTokenRemoval(database, transaction, { freed, now, runAt });
      await publish(transaction, await dropDeadToken(transaction, device));
    },
  };
}
