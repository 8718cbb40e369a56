import type { UserId } from '@waxwing/protocol';
import { countClientDevices } from '../client-devices/client-device-store.js';
import { countPushDevices } from '../push-devices/push-device-store.js';
import { readRealmPushStatus } from '../relay-link/realm-push-status.js';
import type { RelayAccount } from '../server-push-options.js';
import type { PushTransaction } from '../tables.js';

/**
 * The number of a user's devices (at least one) that a notification sent now would reach, or why it would reach none.
 */
export type NotificationReach =
  | { readonly kind: 'devices'; readonly devices: number }
  /** The organization has no relay. */
  | { readonly kind: 'no-relay' }
  /** The relay has switched push off for the organization. */
  | { readonly kind: 'switched-off' }
  /**
   * `pending` counts the registrations that await the relay's decision. If it is 0, no app has registered, or all
   * registrations failed.
   */
  | { readonly kind: 'no-device'; readonly pending: number };

/**
 * Counts the devices that a notification to a user would reach. Reads only the database and sends no request to the relay.
 */
export async function notificationReach(
  { db }: PushTransaction,
  relay: Pick<RelayAccount, 'kind'>,
  userId: UserId,
): Promise<NotificationReach> {
  if (relay.kind === 'not-configured') return { kind: 'no-relay' };
  if (!(await readRealmPushStatus(db)).canPush) return { kind: 'switched-off' };
  const counts = [await countPushDevices(db, userId), await countClientDevices(db, userId)];
  const devices = counts.reduce((sum, count) => sum + count.active, 0);
  if (devices > 0) return { kind: 'devices', devices };
  return { kind: 'no-device', pending: counts.reduce((sum, count) => sum + count.pending, 0) };
}
