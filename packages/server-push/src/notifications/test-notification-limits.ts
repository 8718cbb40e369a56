import type { UserId } from '@waxwing/protocol';
import { lockedByOthers } from '@waxwing/storage';
import type { ActivePushDevice } from '../push-devices/push-device-store.js';
import type { PushTransaction } from '../tables.js';

const deviceIntervalMilliseconds = 10_000;
const userWindowMilliseconds = 60 * 60_000;
const maximumPerUserWindow = 20;

/**
 * Records a test notification to these devices of a user. Returns `undefined` if it is allowed, or the seconds to
 * wait. Rate limits: one per 10 seconds per device, 20 per hour per user. They are stored in the database and survive
 * a restart.
 */
export async function takeTestNotification(
  transaction: PushTransaction,
  userId: UserId,
  devices: readonly ActivePushDevice[],
  now: number,
): Promise<number | undefined> {
  const db = transaction.db;
  const ids = devices.map(({ id }) => id);
  const { alone } = await db
    .selectNoFrom(lockedByOthers(db, `test notifications of user ${userId}`).as('alone'))
    .executeTakeFirstOrThrow();
  // Another transaction is recording a test notification of this user.
  if (!alone) return 1;
  // Ignores timestamps beyond the limits' windows: they predate a clock that was set back, and must not lock users
  // out.
  const { lastTestAt } = await db
    .selectFrom('push_devices')
    .select((is) => is.fn.max('last_test_at').as('lastTestAt'))
    .where('id', 'in', ids)
    .where('last_test_at', '<=', now + deviceIntervalMilliseconds)
    .executeTakeFirstOrThrow();
  const sent = await db
    .selectFrom('test_notifications')
    .select('sent_at')
    .where('user_id', '=', userId)
    .where('sent_at', '>', now - userWindowMilliseconds)
    .where('sent_at', '<=', now + userWindowMilliseconds)
    .orderBy('sent_at')
    .execute();
  const first = sent.at(-maximumPerUserWindow);
  const allowedAt = Math.max(
    lastTestAt === null ? 0 : Number(lastTestAt) + deviceIntervalMilliseconds,
    first === undefined ? 0 : first.sent_at + userWindowMilliseconds,
  );
  const waitMilliseconds = allowedAt - now;
  if (waitMilliseconds > 0) return Math.ceil(waitMilliseconds / 1000);
  await db.updateTable('push_devices').set({ last_test_at: now }).where('id', 'in', ids).execute();
  await db
    .deleteFrom('test_notifications')
    .where('user_id', '=', userId)
    .where('sent_at', '<=', now - userWindowMilliseconds)
    .execute();
  await db.insertInto('test_notifications').values({ user_id: userId, sent_at: now }).execute();
  return undefined;
}

/** Deletes up to `limit` records older than the rate limit's window. Returns how many it deleted. */
export async function deleteOldTestNotifications(
  transaction: PushTransaction,
  now: number,
  limit: number,
): Promise<number> {
  const db = transaction.db;
  const old = db
    .selectFrom('test_notifications')
    .select('id')
    .where('sent_at', '<=', now - userWindowMilliseconds)
    .limit(limit);
  const deleted = await db.deleteFrom('test_notifications').where('id', 'in', old).returning('id').execute();
  return deleted.length;
}
