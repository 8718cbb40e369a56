import type { UserId } from '@waxwing/protocol';
import { nobodyElseHolds } from '@waxwing/storage';
import { sql } from 'kysely';
import type { PushTransaction } from '../tables.js';

/** Registrations that each user may have forwarded in an hour, where nothing else is said. */
export const defaultRegistrationsPerHour = 60;

const hourMilliseconds = 60 * 60_000;

export type TakenRegistration =
  | { readonly kind: 'taken' }
  /** The allowance is used up; the next registration may come after so many seconds. */
  | { readonly kind: 'limited'; readonly waitSeconds: number }
  /** Another transaction takes one of the same user at this moment: ask again in another transaction. */
  | { readonly kind: 'busy' };

/**
 * Takes one registration from a user's allowance: `perHour` of them at once, one more each `perHour`th part of an hour.
 * It holds for all processes on the database together, and until the transaction ends nobody else takes one of this user.
 */
export async function takeRegistration(
  transaction: PushTransaction,
  userId: UserId,
  perHour: number,
  now: number,
): Promise<TakenRegistration> {
  const db = transaction.db;
  const eachMilliseconds = Math.ceil(hourMilliseconds / perHour);
  const mostMilliseconds = eachMilliseconds * perHour;
  const latestFullAt = now + mostMilliseconds - eachMilliseconds;
  // What lies further ahead was written before the clock was set back: it locks nobody out.
  const credibleUntil = now + 2 * mostMilliseconds;
  const { rows } = await sql`
    insert into registration_rates (user_id, full_at)
    select cast(${userId} as bigint), cast(${now + eachMilliseconds} as bigint)
    where ${nobodyElseHolds(db, `registrations of user ${userId}`)}
    on conflict (user_id) do update set full_at = case
      when registration_rates.full_at between ${now} and ${credibleUntil}
      then registration_rates.full_at + ${eachMilliseconds} else excluded.full_at end
    where registration_rates.full_at <= ${latestFullAt} or registration_rates.full_at > ${credibleUntil}
    returning user_id`.execute(db);
  if (rows.length > 0) return { kind: 'taken' };
  const row = await db
    .selectFrom('registration_rates')
    .select('full_at')
    .where('user_id', '=', userId)
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
