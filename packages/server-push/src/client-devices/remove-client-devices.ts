import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { UserId } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { PublishEvents } from '../server-push-options.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { deviceEvent } from './client-device-state.js';
import { type DeviceChoice, deleteClientDevicesOf } from './client-device-store.js';
import { removeAtRelay } from './remove-at-relay.js';

export interface RemovalContext {
  readonly database: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>;
  readonly publish: PublishEvents;
  readonly clock: Clock;
}

/**
 * Deletes all of a user's devices, or only the selected devices, and publishes an event for each. Enqueues jobs that
 * delete them at the relay. Returns the number of deleted devices.
 */
export async function removeClientDevices(
  { clock, database, publish }: RemovalContext,
  transaction: PushTransaction,
  userId: UserId,
  choice: DeviceChoice = {},
): Promise<number> {
  const removed = await deleteClientDevicesOf(transaction, userId, choice);
  await publish(
    transaction,
    removed.map((device) => deviceEvent('remove', device)),
  );
  await removeAtRelay(database, transaction, removed, clock());
  return removed.length;
}
