import { BulkInsert, namesOf, removeInBatches } from '@waxwing/storage';
import { type Compilable, type Kysely, type RawBuilder, sql } from 'kysely';
import type { RelayDatabase, RelayTables } from '../tables.js';
import { maximumServers, type UsedQuota } from './server-quotas.js';

/**
 * Tolerated clock difference between processes. Rows that are dated further ahead are ignored. Within the tolerance, a
 * quota refills according to the clock that is ahead.
 */
const clockDifferenceMilliseconds = 10_000;
const columns = { server_id: 'text', used_milliseconds: 'integer', counted_at: 'integer' } as const;
const fullAt = sql<number>`counted_at + used_milliseconds`;

/** Stores each server's quota usage, added up across processes. Times in Unix milliseconds. */
export class UsedQuotaStore {
  readonly #database: RelayDatabase;
  readonly #add: BulkInsert;

  constructor(database: RelayDatabase) {
    this.#database = database;
    this.#add = new BulkInsert(database.db, columns, (rows) => buildStatement(database.db, rows));
  }

  /** Adds usage since `since` to the stored usage, which decays as quotas refill. Each server may occur only once. */
  async add(used: readonly UsedQuota[], since: number): Promise<void> {
    if (used.length === 0) return;
    // Sorted, because without a fixed lock order two transactions could deadlock.
    const sorted = [...used].sort((left, right) => (left.serverId < right.serverId ? -1 : 1));
    const rows = sorted.map(({ serverId, usedMilliseconds }) => [serverId, usedMilliseconds, since]);
    await this.#database.write(({ db }) => this.#add.run(db, rows));
  }

  /** Returns the usage at `now` of quotas that are not full, at most {@link maximumServers} of them. */
  async read(now: number): Promise<UsedQuota[]> {
    const rows = await this.#database.db
      .selectFrom('server_quotas')
      .selectAll()
      .where(fullAt, '>', now)
      // Skips rows dated in the future: the clock has since gone backward, so the refilled amount is unknown.
      .where('counted_at', '<=', now + clockDifferenceMilliseconds)
      .orderBy(fullAt, 'desc')
      .limit(maximumServers)
      .execute();
    return rows.map((row) => ({
      serverId: row.server_id,
      usedMilliseconds: row.used_milliseconds - Math.max(0, now - row.counted_at),
    }));
  }
}

/** Deletes the rows of quotas that are full at `now`. Returns the number of deleted rows. */
export function forgetFullQuotas(database: RelayDatabase, now: number, signal: AbortSignal): Promise<number> {
  const forgetSome = (limit: number) =>
    database.write(async ({ db }) => {
      const full = db
        .selectFrom('server_quotas')
        .select('server_id')
        .where(fullAt, '<=', now)
        .orderBy('server_id')
        .limit(limit);
      const { numDeletedRows } = await db
        .deleteFrom('server_quotas')
        .where('server_id', 'in', full)
        // Repeats the subquery's condition: another process may add usage between the two reads.
        .where(fullAt, '<=', now)
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    });
  return removeInBatches(forgetSome, signal);
}

function buildStatement(db: Kysely<RelayTables>, rows: RawBuilder<unknown>): Compilable<never> {
  const passed = sql<number>`excluded.counted_at - server_quotas.counted_at`;
  return db
    .insertInto('server_quotas')
    .columns(namesOf(columns))
    .expression(rows)
    .onConflict((conflict) =>
      conflict.column('server_id').doUpdateSet({
        used_milliseconds: sql<number>`excluded.used_milliseconds + case
          when ${passed} <= 0 then server_quotas.used_milliseconds
          when ${passed} < server_quotas.used_milliseconds then server_quotas.used_milliseconds - (${passed})
          else 0 end`,
        // A clock that is slightly behind must not move `counted_at` back, because the same seconds would refill the
        // quota twice.
        counted_at: sql<number>`case
          when ${passed} between ${sql.lit(-clockDifferenceMilliseconds)} and 0 then server_quotas.counted_at
          else excluded.counted_at end`,
      }),
    );
}
