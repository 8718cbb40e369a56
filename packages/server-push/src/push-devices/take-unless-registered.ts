import { sql } from 'kysely';
import { type NotTaken, rateOf, type Taken, takeRegistrations } from '../registrations/registration-rate.js';
import type { PushTransaction } from '../tables.js';
import { type AskedRegistration, isRegistered } from './accept-registration.js';

const rate = rateOf(
  { user_id: 'integer', lock: 'text', push_account_id: 'text', hash: 'text' },
  sql<boolean>`not exists (
    select 1 from push_devices as device
    where device.user_id = asked.user_id and device.push_account_id = asked.push_account_id
      and device.registration_hash = asked.hash and device.error_code is null)`,
);

/**
 * Applies the rate limit to registrations, at most one per user. A registration that is already stored and has not
 * failed is `unchanged` and does not count against the limit. Returns the outcomes in the same order.
 */
export async function takeUnlessRegistered(
  transaction: PushTransaction,
  asked: readonly AskedRegistration[],
  perHour: number,
  now: number,
): Promise<(Taken | NotTaken | { readonly kind: 'unchanged' })[]> {
  const rows = asked.map(({ userId, registration: { pushAccountId, hash } }) => ({
    user_id: userId,
    push_account_id: pushAccountId,
    hash,
  }));
  const taken = await takeRegistrations(transaction, { rate, rows, perHour, now });
  const outcomes: (Taken | NotTaken | { readonly kind: 'unchanged' })[] = [];
  for (const [index, each] of asked.entries()) {
    const outcome = taken[index] as Taken | NotTaken;
    const isUnchanged = outcome.kind !== 'taken' && (await isRegistered(transaction, each));
    outcomes.push(isUnchanged ? { kind: 'unchanged' } : outcome);
  }
  return outcomes;
}
