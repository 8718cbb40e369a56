import type { UserId } from '@waxwing/protocol';
import { type RemovalContext, removeClientDevices } from './client-devices/remove-client-devices.js';
import { deletePushDevicesOf } from './push-devices/push-device-store.js';
import { enqueueRemoval } from './push-devices/remove-relay-devices.js';
import type { PushTransaction } from './tables.js';

/**
 * Deletes all devices of a user, of both generations, for instance when the user's API key changes. With `sessions`,
 * deletes only the devices that these sign-ins registered (see `PushActor.session`). Pending registrations have no
 * further effect. Durable jobs ask the relay to delete the user's devices there, and retry for a week.
 */
export async function removePushDevicesOf(
  context: RemovalContext,
  transaction: PushTransaction,
  userId: UserId,
  sessions?: readonly string[],
): Promise<void> {
  const freed = await deletePushDevicesOf(transaction, userId, { sessions });
  await enqueueRemoval(context.database, transaction, { freed, now: context.clock() });
  await removeClientDevices(context, transaction, userId, { sessions });
}
