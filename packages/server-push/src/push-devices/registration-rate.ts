import type { UserId } from '@waxwing/protocol';
import { fixedQuery, lockedByOthers, rowsAsTableOf } from '@waxwing/storage';
import { sql } from 'kysely';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { type AskedRegistration, isRegistered } from './accept-registration.js';

/** Default rate limit: registrations forwarded per user and hour. */
export const defaultRegistrationsPerHour = 60;

const hourMilliseconds = 60 * 60_000;

export type TakenRegistration =
  | { readonly kind: 'taken' }
  /** An identical registration exists and has not failed; it does not count. */
  | { readonly kind: 'unchanged' }
  /** The rate limit is reached; the next registration is allowed after `waitSeconds`. */
  | { readonly kind: 'limited'; readonly waitSeconds: number }
  /** Another transaction is taking one for the same user. Retry in a new transaction. */
  | { readonly kind: 'busy' };

/**
 * Applies the rate limit to registrations, at most one per user: a burst of `perHour`, refilled by one each
 * `perHour`th of an hour. All processes on the database share the limit, and the users stay locked until the
 * transaction ends. Returns the outcomes in the same order.
 */
export async function takeRegistrations(
  transaction: PushTransaction,
  asked: readonly AskedRegistration[],
  perHour: number,
  now: number,
): Promise<TakenRegistration[]> {
  const eachMilliseconds = Math.ceil(hourMilliseconds / perHour);
  const mostMilliseconds = eachMilliseconds * perHour;
  const bounds: Bounds = {
    now,
    eachMilliseconds,
    nextFullAt: now + eachMilliseconds,
    latestFullAt: now + mostMilliseconds - eachMilliseconds,
    // A later value predates a clock that was set back. It must not lock users out.
    credibleUntil: now + 2 * mostMilliseconds,
  };
  const registrations = asked.map(({ userId, registration: { pushAccountId, hash } }) => ({
    user_id: userId,
    push_account_id: pushAccountId,
    hash,
    lock: `registrations of user ${userId}`,
  }));
  const rows = await taken(transaction.db, { ...bounds, asked: JSON.stringify(registrations) });
  const users = new Set(rows.map(({ user_id }) => user_id));
  const answers: TakenRegistration[] = [];
  for (const each of asked) {
    answers.push(users.has(each.userId) ? { kind: 'taken' } : await whyNotTaken(transaction, each, bounds));
  }
  return answers;
}

/** Instants and durations in milliseconds. */
interface Bounds {
  readonly now: number;
  readonly eachMilliseconds: number;
  /** When the full allowance is back for a user who has used none of it. */
  readonly nextFullAt: number;
  readonly latestFullAt: number;
  readonly credibleUntil: number;
}

const askedColumns = { user_id: 'integer', push_account_id: 'text', hash: 'text', lock: 'text' } as const;

const taken = fixedQuery<ServerPushTables, Bounds & { readonly asked: string }, { user_id: UserId }>(
  (db, parameter) => ({
    compile: () =>
      sql<{ user_id: UserId }>`
        insert into registration_rates (user_id, full_at)
        select asked.user_id, cast(${parameter('nextFullAt')} as bigint)
        from ${rowsAsTableOf(db, 'asked', askedColumns, parameter('asked'))}
        where ${lockedByOthers(db, sql.ref('asked.lock'))} and not exists (
          select 1 from push_devices as device
          where device.user_id = asked.user_id and device.push_account_id = asked.push_account_id
            and device.registration_hash = asked.hash and device.error_code is null)
        on conflict (user_id) do update set full_at = case
          when registration_rates.full_at between ${parameter('now')} and ${parameter('credibleUntil')}
          then registration_rates.full_at + ${parameter('eachMilliseconds')} else excluded.full_at end
        where registration_rates.full_at <= ${parameter('latestFullAt')}
          or registration_rates.full_at > ${parameter('credibleUntil')}
        returning user_id`.compile(db),
  }),
);

async function whyNotTaken(
  transaction: PushTransaction,
  asked: AskedRegistration,
  { latestFullAt, credibleUntil }: Bounds,
): Promise<TakenRegistration> {
  if (await isRegistered(transaction, asked)) return { kind: 'unchanged' };
  const row = await transaction.db
    .selectFrom('registration_rates')
    .select('full_at')
    .where('user_id', '=', asked.userId)
    .executeTakeFirst();
  const waitMilliseconds = row === undefined ? 0 : row.full_at - latestFullAt;
  if (waitMilliseconds <= 0 || waitMilliseconds > credibleUntil - latestFullAt) return { kind: 'busy' };
  return { kind: 'limited', waitSeconds: Math.ceil(waitMilliseconds / 1000) };
}

/** Deletes up to `limit` rows of users whose allowance is full again. Returns how many it deleted. */
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
    // Repeats the subquery's condition: a registration can be counted between the two.
    .where('full_at', '<=', now)
    .returning('user_id')
    .execute();
  return deleted.length;
}
