import type { ClientDeviceId, UserId } from '@waxwing/protocol';
import { DatabaseUnavailableError } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { PushDeviceId, ServerPushTables } from '../tables.js';
import type { NotificationSender } from './notification-sender.js';
import { type Recipient, rowName } from './recipient.js';
import type { Sending } from './send-to-devices.js';

type DeviceRow = Recipient['row'];

/** Whether a new registration of a device awaits the relay's decision. */
export async function isRegistering(
  db: Kysely<ServerPushTables>,
  { table, id }: DeviceRow,
): Promise<boolean> {
  const row =
    table === 'push_devices'
      ? await db
          .selectFrom('push_devices')
          .select('id')
          .where('id', '=', id as PushDeviceId)
          .where('pending_token_kind', 'is not', null)
          .executeTakeFirst()
      : await db
          .selectFrom('client_devices')
          .select('id')
          .where('id', '=', id as ClientDeviceId)
          .where('pending_encrypted_registration', 'is not', null)
          .executeTakeFirst();
  return row !== undefined;
}

/**
 * Finds the notified devices whose registration the relay no longer knew, and whose phone is registering again or has
 * just registered again. The notification has not reached these phones.
 */
export async function registeredAgain(
  db: Kysely<ServerPushTables>,
  sender: Pick<NotificationSender, 'recipientsOf'>,
  { userId, taken }: Pick<Sending, 'taken'> & { readonly userId: UserId },
): Promise<DeviceRow[]> {
  const rows: DeviceRow[] = [];
  for (const { recipient, result } of taken) {
    if (result.status !== 'gone') continue;
    const { row, only, address } = recipient;
    // Reads pending registrations first: if the relay confirms a registration between the two reads, the second read
    // finds it.
    const isAgain = async () =>
      (await isRegistering(db, row)) ||
      (await sender.recipientsOf(userId, only)).some(
        (current) => rowName(current) === rowName(recipient) && current.address !== address,
      );
    // If the database is unavailable, assume that the device is registering: a separate job checks again, whereas a
    // retry of this job would notify the other devices twice.
    if (await isAgain().catch(whenUnavailable)) rows.push(row);
  }
  return rows;
}

function whenUnavailable(error: unknown): true {
  if (error instanceof DatabaseUnavailableError) return true;
  throw error;
}
