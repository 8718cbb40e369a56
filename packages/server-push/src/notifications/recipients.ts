import { formatPushAccountId, type UserId } from '@waxwing/protocol';
import { activeClientDevices } from '../client-devices/client-device-store.js';
import { activePushDevices } from '../push-devices/push-device-store.js';
import { clientDeviceRecipient } from './client-device-recipients.js';
import { pushDeviceRecipient } from './push-device-recipients.js';
import type { OnlyDevice, Recipient, RecipientOptions } from './recipient.js';

/**
 * Returns a user's active devices of both generations, oldest first within each generation, or only the device that
 * `only` names.
 */
export async function recipientsOf(
  options: RecipientOptions,
  userId: UserId,
  { device_id: deviceId, push_account_id: accountId }: OnlyDevice = {},
): Promise<Recipient[]> {
  const { db } = options.database;
  const account = accountId === undefined ? undefined : formatPushAccountId(accountId);
  const pushDevices =
    deviceId !== undefined && account === undefined ? [] : await activePushDevices(db, userId, account);
  const clientDevices =
    account !== undefined && deviceId === undefined ? [] : await activeClientDevices(db, userId, deviceId);
  return [
    ...pushDevices.map((device) => pushDeviceRecipient(options, device)),
    ...clientDevices.map((device) => clientDeviceRecipient(options, device)),
  ];
}
