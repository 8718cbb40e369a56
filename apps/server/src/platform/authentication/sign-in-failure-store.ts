import { createHash } from 'node:crypto';
import { tryLockExclusive } from '@waxwing/storage';
import type { Transaction } from 'kysely';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import { addressKey } from '../names/address-key.js';
import { type NameFailures, planSignInTry } from './plan-sign-in-try.js';

export type TakenTry =
  | { readonly kind: 'taken' }
  | { readonly kind: 'locked'; readonly waitSeconds: number }
  /** A concurrent transaction is counting an attempt for the same name. */
  | { readonly kind: 'busy' };

/** Counts a sign-in attempt for a name ({@link planSignInTry}). All processes on the database share the count. */
export async function takeSignInTry({ db }: ServerTransaction, name: string, now: number): Promise<TakenTry> {
  const digest = digestOf(name);
  if (!(await isLockFree(db, digest))) return { kind: 'busy' };
  const planned = planSignInTry(await readFailures(db, digest), now);
  if (planned.kind === 'locked') return planned;
  const { failures, since, lockouts, lockedUntil, forgetAt } = planned.next;
  const row = { failures, since, lockouts, locked_until: lockedUntil, forget_at: forgetAt };
  await db
    .insertInto('sign_in_failures')
    .values({ name_digest: digest, ...row })
    .onConflict((conflict) => conflict.column('name_digest').doUpdateSet(row))
    .execute();
  return { kind: 'taken' };
}

/**
 * Deletes the failures of a name after a successful sign-in. Skips the deletion if a concurrent transaction is counting
 * an attempt for the name: waiting for its lock could deadlock.
 */
export async function forgetSignInFailures({ db }: ServerTransaction, name: string): Promise<void> {
  const digest = digestOf(name);
  if (!(await isLockFree(db, digest))) return;
  await db.deleteFrom('sign_in_failures').where('name_digest', '=', digest).execute();
}

/** Deletes up to `limit` expired failures and returns their number. */
export async function deleteOldFailures(
  db: Transaction<ServerTables>,
  now: number,
  limit: number,
): Promise<number> {
  const old = db
    .selectFrom('sign_in_failures')
    .select('name_digest')
    .where('forget_at', '<=', now)
    .limit(limit);
  const deleted = await db
    .deleteFrom('sign_in_failures')
    .where('name_digest', 'in', old)
    // Repeats the condition, because a concurrent attempt may renew a row after the subquery.
    .where('forget_at', '<=', now)
    .returning('name_digest')
    .execute();
  return deleted.length;
}

async function readFailures(
  db: Transaction<ServerTables>,
  digest: string,
): Promise<NameFailures | undefined> {
  const row = await db
    .selectFrom('sign_in_failures')
    .selectAll()
    .where('name_digest', '=', digest)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { failures, since, lockouts, locked_until: lockedUntil, forget_at: forgetAt } = row;
  return { failures, since, lockouts, lockedUntil, forgetAt };
}

async function isLockFree(db: Transaction<ServerTables>, digest: string): Promise<boolean> {
  const { alone } = await db
    .selectNoFrom(tryLockExclusive(db, `sign-in of ${digest}`).as('alone'))
    .executeTakeFirstOrThrow();
  return Boolean(alone);
}

function digestOf(name: string): string {
  return createHash('sha256').update(addressKey(name)).digest('hex');
}
