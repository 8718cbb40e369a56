import type { ProtocolError, UserId } from '@waxwing/protocol';
import { rateLimitHit } from '@waxwing/service/http';
import {
  type FixedQuery,
  fixedQuery,
  type RowColumn,
  rowsAsTableOf,
  tryLockExclusive,
} from '@waxwing/storage';
import { type RawBuilder, sql } from 'kysely';
import type { PushTransaction, ServerPushTables } from '../tables.js';

/** Default rate limit: registrations forwarded per user and hour. */
export const defaultRegistrationsPerHour = 60;

const hourMilliseconds = 60 * 60_000;

export interface Taken {
  readonly kind: 'taken';
}

export type NotTaken =
  /** The user has reached the rate limit. The next registration is allowed after `waitSeconds`. */
  | { readonly kind: 'limited'; readonly waitSeconds: number }
  /** Another transaction is counting a registration for the same user. Retry in a new transaction. */
  | { readonly kind: 'busy' };

/** Returns the error for a registration that the rate limit did not allow. */
export function rateRefusal(notTaken: NotTaken): ProtocolError {
  return rateLimitHit('registration', notTaken.kind === 'limited' ? notTaken.waitSeconds : 1);
}

/** Parameters of the rate limit. Times are in Unix milliseconds, durations in milliseconds. */
interface Bounds {
  readonly now: number;
  readonly eachMilliseconds: number;
  /** When the allowance will be full again, for a user who had the full allowance before this registration. */
  readonly nextFullAt: number;
  readonly latestFullAt: number;
  readonly credibleUntil: number;
}

type Rate = FixedQuery<ServerPushTables, Bounds & { readonly asked: string }, { user_id: UserId }>;

interface TakenRegistrations<Row> {
  readonly rate: Rate;
  /** At most one per user. */
  readonly rows: readonly Row[];
  readonly perHour: number;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Applies the rate limit to registrations: a burst of `perHour`, refilled evenly over an hour. All processes on the database
 * share the limit, and the users stay locked until the transaction ends. Returns the outcomes in the order of the rows.
 */
export async function takeRegistrations<Row extends { readonly user_id: UserId }>(
  transaction: PushTransaction,
  { rate, rows, perHour, now }: TakenRegistrations<Row>,
): Promise<(Taken | NotTaken)[]> {
  if (rows.length === 0) return [];
  const eachMilliseconds = Math.ceil(hourMilliseconds / perHour);
  const mostMilliseconds = eachMilliseconds * perHour;
  const bounds: Bounds = {
    now,
    eachMilliseconds,
    nextFullAt: now + eachMilliseconds,
    latestFullAt: now + mostMilliseconds - eachMilliseconds,
    // Ignores a later value, so that users are not locked out: it was stored before the clock was set back.
    credibleUntil: now + 2 * mostMilliseconds,
  };
  const asked = rows
    .map((row) => ({ ...row, lock: `registrations of user ${row.user_id}` }))
    // Sorted: two transactions that lock the same users in different orders could deadlock.
    .sort((one, other) => one.user_id - other.user_id);
  const taken = await rate(transaction.db, { ...bounds, asked: JSON.stringify(asked) });
  const users = new Set(taken.map(({ user_id }) => user_id));
  const answers: (Taken | NotTaken)[] = [];
  for (const { user_id: userId } of rows) {
    answers.push(users.has(userId) ? { kind: 'taken' } : await whyNotTaken(transaction, userId, bounds));
  }
  return answers;
}

/**
 * Builds the statement that counts registrations against the rate limit, for rows with these columns.
 *
 * @param isCounted the condition that a row of the `asked` table must meet to be counted. Other rows are skipped.
 */
export function rateOf(
  columns: Readonly<Record<string, RowColumn>>,
  isCounted: RawBuilder<boolean> = sql<boolean>`true`,
): Rate {
  return fixedQuery((db, parameter) => ({
    compile: () =>
      sql<{ user_id: UserId }>`
        insert into registration_rates (user_id, full_at)
        select asked.user_id, cast(${parameter('nextFullAt')} as bigint)
        from ${rowsAsTableOf(db, 'asked', columns, parameter('asked'))}
        where ${tryLockExclusive(db, sql.ref('asked.lock'))} and ${isCounted}
        on conflict (user_id) do update set full_at = case
          when registration_rates.full_at between ${parameter('now')} and ${parameter('credibleUntil')}
          then registration_rates.full_at + ${parameter('eachMilliseconds')} else excluded.full_at end
        where registration_rates.full_at <= ${parameter('latestFullAt')}
          or registration_rates.full_at > ${parameter('credibleUntil')}
        returning user_id`.compile(db),
  }));
}

async function whyNotTaken(
  { db }: PushTransaction,
  userId: UserId,
  { latestFullAt, credibleUntil }: Bounds,
): Promise<NotTaken> {
  const row = await db
    .selectFrom('registration_rates')
    .select('full_at')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  const waitMilliseconds = row === undefined ? 0 : row.full_at - latestFullAt;
  if (waitMilliseconds <= 0 || waitMilliseconds > credibleUntil - latestFullAt) return { kind: 'busy' };
  return { kind: 'limited', waitSeconds: Math.ceil(waitMilliseconds / 1000) };
}

/** Deletes up to `limit` rows of users whose allowance is full again. Returns the number of deleted rows. */
export async function deleteFullRates(
  transaction: PushTransaction,
  now: number,
  limit: number,
): Promise<number> {
  const db = transaction.db;
  const full = db.selectFrom('registration_rates').select('user_id').where('full_at', '<=', now).limit(limit);
  const deleted = await db
    .deleteFrom('registration_rates')
    .where('user_id', 'in', full)
    // Repeats the subquery's condition, because a registration can be counted between the two reads.
    .where('full_at', '<=', now)
    .returning('user_id')
    .execute();
  return deleted.length;
}
