import type { PushAccountId } from '@waxwing/protocol';
import { pushDeviceEvent } from '../push-devices/push-device-state.js';
import {
  type ActivePushDevice,
  deadRegistrationCode,
  dropDeadRegistration,
} from '../push-devices/push-device-store.js';
import { enqueueRemoval } from '../push-devices/remove-relay-devices.js';
import { removalDelayMilliseconds } from '../registrations/removal-jobs.js';
import { deviceAddress, type Recipient, type RecipientOptions } from './recipient.js';
import { sealNotification } from './seal-notification.js';

/** Returns an older-generation device as the recipient of a notification. */
export function pushDeviceRecipient(
  { clock, database, publish, sodium }: RecipientOptions,
  device: ActivePushDevice,
): Recipient {
  return {
    row: { table: 'push_devices', id: device.id },
    only: { push_account_id: BigInt(device.pushAccountId) as PushAccountId },
    address: deviceAddress(device.relayDeviceId),
    seal: (type, encoded) => sealNotification(sodium, device, type, encoded),
    async drop(transaction) {
      const now = clock();
      const runAt = now + removalDelayMilliseconds;
      await enqueueRemoval(database, transaction, { freed: [device], now, runAt });
      const gone = await dropDeadRegistration(transaction, device);
      if (gone === undefined) return;
      const event = pushDeviceEvent(gone.pushAccountId, deadRegistrationCode);
      await publish(transaction, [{ event, audience: [gone.userId] }]);
    },
  };
}
