import type { Transaction } from 'kysely';
import type { RelayDatabase, RelayTables } from '../tables.js';

/**
 * Counts of a server's notifications in an hour by outcome, and when the server was last seen (Unix milliseconds; 0 for
 * never).
 */
export interface ActivityCounts {
  sent: number;
  gone: number;
  rejected: number;
  lastSeenAt: number;
}

const hourMilliseconds = 3_600_000;
const rowsPerStatement = 100;

export function hourOf(now: number): number {
  return Math.floor(now / hourMilliseconds);
}

/** Stores the activity of all processes, one row per server and hour. */
export class ServerActivityStore {
  readonly #database: RelayDatabase;

  constructor(database: RelayDatabase) {
    this.#database = database;
  }

  /** Adds each server's counts to the stored counts for the hour. */
  async add(counts: ReadonlyMap<string, ActivityCounts>, hour: number): Promise<void> {
    const rows = [...counts].map(([server_id, { lastSeenAt, ...outcomes }]) => ({
      ...outcomes,
      server_id,
      hour,
      last_seen_at: lastSeenAt,
    }));
    // Sorted, because without a fixed lock order two transactions could deadlock.
    rows.sort((left, right) => (left.server_id < right.server_id ? -1 : 1));
    for (let offset = 0; offset < rows.length; offset += rowsPerStatement) {
      await this.#database.write(({ db }) => addRows(db, rows.slice(offset, offset + rowsPerStatement)));
    }
  }
}

async function addRows(
  db: Transaction<RelayTables>,
  rows: readonly RelayTables['server_activity'][],
): Promise<void> {
  await db
    .insertInto('server_activity')
    .values([...rows])
    .onConflict((conflict) =>
      conflict.columns(['server_id', 'hour']).doUpdateSet((eb) => ({
        sent: eb('server_activity.sent', '+', eb.ref('excluded.sent')),
        gone: eb('server_activity.gone', '+', eb.ref('excluded.gone')),
        rejected: eb('server_activity.rejected', '+', eb.ref('excluded.rejected')),
        last_seen_at: eb
          .case()
          .when('excluded.last_seen_at', '>', eb.ref('server_activity.last_seen_at'))
          .then(eb.ref('excluded.last_seen_at'))
          .else(eb.ref('server_activity.last_seen_at'))
          .end(),
      })),
    )
    .execute();
}

/**
 * Deletes counts older than a day, and counts of removed servers. Keeps each server's last row, because it records when
 * the server was last seen. Returns the number of deleted rows.
 */
export async function forgetOldActivity(database: RelayDatabase, now: number): Promise<number> {
  const { numDeletedRows } = await database.writeStatement((db) =>
    db
      .deleteFrom('server_activity')
      .where('hour', '<', hourOf(now) - 24)
      .where(({ eb, or, selectFrom }) => {
        const latest = selectFrom('server_activity as newer')
          .select(({ fn }) => fn.max('newer.hour').as('hour'))
          .whereRef('newer.server_id', '=', 'server_activity.server_id');
        return or([eb('hour', '<', latest), eb('server_id', 'not in', selectFrom('servers').select('id'))]);
      })
      .executeTakeFirstOrThrow(),
  );
  return Number(numDeletedRows);
}
