import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { ClientDeviceId } from '@waxwing/protocol';
import type { FreedRelayDevice } from '../push-devices/push-device-store.js';
import { enqueueRemoval } from '../push-devices/remove-relay-devices.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import type { ClientDeviceRow } from './client-device-state.js';

// A token may replace an older-generation registration while the relay still holds notifications for that registration.
// The phone still has the key to decrypt them. The server therefore removes the registration only once the relay holds
// no more notifications for it, or immediately if the phone signs out.

type Database = Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>;

/** How long the relay may hold a notification: one day, plus an hour for notifications in flight. */
const heldMilliseconds = 25 * 60 * 60_000;
const maximumFormerDevices = 10;

/**
 * Schedules the removal of the relay devices that a device has replaced. The removal runs once the relay no longer
 * holds notifications for them. Also records them in the device's row, so that a sign-out can remove them earlier.
 */
export async function replaceRelayDevices(
  database: Database,
  transaction: PushTransaction,
  deviceId: ClientDeviceId,
  { freed, now }: { readonly freed: readonly FreedRelayDevice[]; readonly now: number },
): Promise<void> {
  if (freed.length === 0) return;
  await enqueueRemoval(database, transaction, { freed, now, runAt: now + heldMilliseconds });
  const { db } = transaction;
  const row = await db
    .selectFrom('client_devices')
    .select('former_relay_devices')
    .where('id', '=', deviceId)
    .executeTakeFirst();
  if (row === undefined) return;
  const former = [...freed, ...formerRelayDevices([row])].slice(0, maximumFormerDevices);
  await db
    .updateTable('client_devices')
    .set({ former_relay_devices: JSON.stringify(former) })
    .where('id', '=', deviceId)
    .execute();
}

/**
 * Removes replaced relay devices immediately. Used when the devices that replaced them are deleted, or when their
 * phones register again.
 */
export async function removeFormerRelayDevices(
  database: Database,
  transaction: PushTransaction,
  rows: readonly Pick<ClientDeviceRow, 'former_relay_devices'>[],
  now: number,
): Promise<void> {
  await enqueueRemoval(database, transaction, { freed: formerRelayDevices(rows), now });
}

function formerRelayDevices(
  rows: readonly Pick<ClientDeviceRow, 'former_relay_devices'>[],
): FreedRelayDevice[] {
  return rows.flatMap(({ former_relay_devices: text }) =>
    text === null ? [] : (JSON.parse(text) as FreedRelayDevice[]),
  );
}
