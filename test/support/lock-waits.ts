import { type Kysely, sql, type Transaction } from 'kysely';
import { expect } from 'vitest';

/**
 * Holds a PostgreSQL transaction open while `meanwhile` makes a request that must wait for its lock. `finish` runs once
 * the request waits, or once it has completed without waiting. Then the transaction commits, and the request's result
 * is returned.
 */
export async function whileLocked<Tables, Result>(
  db: Kysely<Tables>,
  lock: (transaction: Transaction<Tables>) => Promise<unknown>,
  meanwhile: () => Promise<Result>,
  finish: (transaction: Transaction<Tables>) => Promise<unknown> = async () => undefined,
): Promise<Result> {
  const { answer } = await db.transaction().execute(async (transaction) => {
    await lock(transaction);
    let isAnswered = false;
    const answer = meanwhile().finally(() => {
      isAnswered = true;
    });
    const isSettled = async () => isAnswered || (await waitingForLocks(db)) > 0;
    await expect.poll(isSettled, { timeout: 20_000 }).toBe(true);
    await finish(transaction);
    return { answer };
  });
  return answer;
}

/** Number of this database's transactions that wait for a lock. */
export async function waitingForLocks<Tables>(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql`
    select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows.length;
}
