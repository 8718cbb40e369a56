import type { UserId } from '@waxwing/protocol';
import type { RelayAccount } from '../server-push-options.js';
import type { PushTransaction } from '../tables.js';

/** To how many of a user's devices a notification goes that is sent now, at least one; or why it goes to none. */
export type NotificationReach =
  | { readonly kind: 'devices'; readonly devices: number }
  /** The organisation has no relay. */
  | { readonly kind: 'no-relay' }
  /** `pending` registrations wait for the relay; where there are none, no app has registered, or none successfully. */
  | { readonly kind: 'no-device'; readonly pending: number };

/** What {@link NotificationReach} says of a user; it needs no relay to answer, nor a server that runs. */
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
