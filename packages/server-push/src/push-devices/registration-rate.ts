import type { UserId } from '@waxwing/protocol';
import { fixedQuery, nobodyElseHolds, rowsAsTableOf } from '@waxwing/storage';
import { sql } from 'kysely';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { type AskedRegistration, isRegistered } from './accept-registration.js';

/** Registrations that each user may have forwarded in an hour, where nothing else is said. */
export const defaultRegistrationsPerHour = 60;

const hourMilliseconds = 60 * 60_000;

export type TakenRegistration =
  | { readonly kind: 'taken' }
  /** The same registration is there already and has not failed: it takes nothing. */
  | { readonly kind: 'unchanged' }
  /** The allowance is used up; the next registration may come after so many seconds. */
  | { readonly kind: 'limited'; readonly waitSeconds: number }
  /** Another transaction takes one of the same user at this moment: ask again in another transaction. */
  | { readonly kind: 'busy' };

/**
 * Takes registrations from the allowances of their users, of each one at most: `perHour` of them at once, one more each
 * `perHour`th part of an hour. It holds for all processes on the database together, and until the transaction ends nobody
 * else takes one of these users. The answers are in the same order.
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
    // What lies further ahead was written before the clock was set back: it locks nobody out.
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

/** Unix milliseconds. */
interface Bounds {
  readonly now: number;
  readonly eachMilliseconds: number;
  /** When the allowance is whole again of whom nothing was taken before. */
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
        where ${nobodyElseHolds(db, sql.ref('asked.lock'))} and not exists (
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

/** Deletes up to `limit` rows of users who have all of their allowance again; how many they were. */
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
    // Said again because a registration may be taken between the two.
    .where('full_at', '<=', now)
    .returning('user_id')
    .execute();
  return deleted.length;
}
