import type { UserId } from '@waxwing/protocol';
import { tryLockExclusive } from '@waxwing/storage';
import type { PushTransaction } from '../tables.js';
import type { Recipient } from './recipient.js';

const deviceIntervalMilliseconds = 10_000;
const userWindowMilliseconds = 60 * 60_000;
const maximumPerUserWindow = 20;

const tables = ['push_devices', 'client_devices'] as const;
type Table = (typeof tables)[number];

/**
 * Applies the rate limits to a test notification to these devices of the user. If the limits allow it, records it and
 * returns `undefined`. Otherwise, returns the number of seconds to wait. The limits are one test per device in 10
 * seconds, and 20 tests per user and hour. The counts are stored in the database, so they survive a restart.
 */
export async function takeTestNotification(
  transaction: PushTransaction,
  userId: UserId,
  recipients: readonly Pick<Recipient, 'row'>[],
  now: number,
): Promise<number | undefined> {
  const db = transaction.db;
  const { alone } = await db
    .selectNoFrom(tryLockExclusive(db, `test notifications of user ${userId}`).as('alone'))
    .executeTakeFirstOrThrow();
  // Another transaction is recording a test notification for this user: try again in a second.
  if (!alone) return 1;
  const lastTestAt = await lastTestOf(db, recipients, now);
  // Ignores timestamps in the far future: they were stored before the clock was set back.
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
    lastTestAt === undefined ? 0 : lastTestAt + deviceIntervalMilliseconds,
    first === undefined ? 0 : first.sent_at + userWindowMilliseconds,
  );
  const waitMilliseconds = allowedAt - now;
  if (waitMilliseconds > 0) return Math.ceil(waitMilliseconds / 1000);
  for (const table of tables) {
    const ids = idsIn(table, recipients);
    if (ids.length === 0) continue;
    await db.updateTable(table).set({ last_test_at: now }).where('id', 'in', ids).execute();
  }
  await db
    .deleteFrom('test_notifications')
    .where('user_id', '=', userId)
    .where('sent_at', '<=', now - userWindowMilliseconds)
    .execute();
  await db.insertInto('test_notifications').values({ user_id: userId, sent_at: now }).execute();
  return undefined;
}

/** Returns the time of the last test notification to any of the recipients, in Unix milliseconds. */
async function lastTestOf(
  db: PushTransaction['db'],
  recipients: readonly Pick<Recipient, 'row'>[],
  now: number,
): Promise<number | undefined> {
  const found: number[] = [];
  for (const table of tables) {
    const ids = idsIn(table, recipients);
    if (ids.length === 0) continue;
    const { at } = await db
      .selectFrom(table)
      .select((is) => is.fn.max('last_test_at').as('at'))
      .where('id', 'in', ids)
      // Ignores a timestamp above this limit, so that users are not locked out: it was stored before the clock was set
      // back.
      .where('last_test_at', '<=', now + deviceIntervalMilliseconds)
      .executeTakeFirstOrThrow();
    if (at !== null) found.push(Number(at));
  }
  return found.length === 0 ? undefined : Math.max(...found);
}

function idsIn(table: Table, recipients: readonly Pick<Recipient, 'row'>[]): never[] {
  return recipients.flatMap(({ row }) => (row.table === table ? [row.id as never] : []));
}

/** Deletes up to `limit` records older than the rate limit's window. Returns the number of deleted records. */
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
