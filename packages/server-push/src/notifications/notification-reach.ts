import type { UserId } from '@waxwing/protocol';
import type { RelayAccount } from '../server-push-options.js';
import type { PushTransaction } from '../tables.js';

/** How many of a user's devices (at least one) a notification reaches if sent now, or why it reaches none. */
export type NotificationReach =
  | { readonly kind: 'devices'; readonly devices: number }
  /** The organization has no relay. */
  | { readonly kind: 'no-relay' }
  /**
   * `pending` counts registrations that wait for the relay. With 0, no app has registered, or all registrations
   * failed.
   */
  | { readonly kind: 'no-device'; readonly pending: number };

/** Counts the devices that a notification to a user would reach. Reads the database only; asks no relay. */
export async function notificationReach(
  { db }: PushTransaction,
  relay: Pick<RelayAccount, 'kind'>,
  userId: UserId,
): Promise<NotificationReach> {
  if (relay.kind === 'not-configured') return { kind: 'no-relay' };
  const rows = await db
    .selectFrom('push_devices')
    .select(['relay_device_id', 'pending_token_kind'])
    .where('user_id', '=', userId)
    .execute();
  const devices = rows.filter((row) => row.relay_device_id !== null).length;
  if (devices > 0) return { kind: 'devices', devices };
  return { kind: 'no-device', pending: rows.filter((row) => row.pending_token_kind !== null).length };
}
