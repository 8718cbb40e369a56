import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { UserId } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { PublishEvents } from '../server-push-options.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { deviceEvent } from './client-device-state.js';
import { type DeviceChoice, deleteClientDevicesOf } from './client-device-store.js';
import { removeFormerRelayDevices } from './former-relay-devices.js';
import { freedBy } from './freed-tokens.js';
import { enqueueTokenRemoval } from './remove-tokens.js';

export interface RemovalContext {
  readonly database: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>;
  readonly publish: PublishEvents;
  readonly clock: Clock;
}

/**
 * Deletes all devices of a user, or only the chosen ones, and publishes an event for each. Enqueues jobs that ask the
 * relay to delete the tokens that no other device uses, and the relay devices that the deleted devices had replaced.
 * Returns the number of deleted devices.
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
  const now = clock();
  await enqueueTokenRemoval(database, transaction, { freed: freedBy(removed), now });
  await removeFormerRelayDevices(database, transaction, removed, now);
  return removed.length;
}
