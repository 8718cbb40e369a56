import { type Kysely, sql } from 'kysely';
import { lockExclusive } from './advisory-locks.js';
import { DatabaseUnusableError } from './database-unusable-error.js';
import { isPostgres } from './is-postgres.js';
import type { Database } from './open-database.js';

/** Safety margin: other processes assign fewer ids than this between the comparison and the raise. */
const margin = 4096;

/**
 * Raises a table's id counter to at least `floor`, a safe integer, so that new ids are above it. Never lowers the
 * counter. Idempotent. Other processes can insert rows at the same time.
 * @throws DatabaseUnusableError if the database user may not set the counter
 */
export async function raiseIdCounter<Tables>(
  database: Pick<Database<Tables>, 'write'>,
  table: keyof Tables & string,
  floor: number,
): Promise<void> {
  await database.write(async ({ db }) => {
    if (!isPostgres(db)) return raiseSqliteCounter(db, table, floor);
    // Without the lock, the second of two concurrent raises could lower the counter below ids assigned since the first.
    await lockExclusive(db, `id counter of ${table}`);
    await sql`
      select setval(counter, ${floor}) from (select pg_get_serial_sequence(${table}, 'id')::regclass as counter) as found
      where coalesce(pg_sequence_last_value(counter), 0) < ${floor - margin}`
      .execute(db)
      .catch((error) => explainDenial(error, table));
  });
}

// SQLSTATE insufficient_privilege.
const denied = '42501';

function explainDenial(cause: unknown, table: string): never {
  if ((cause as { code?: unknown }).code !== denied) throw cause;
  throw new DatabaseUnusableError(
    `The database user may not set the id counter of the table ${table}: as the table's owner, run "grant select, update on sequence ${table}_id_seq to <user>".`,
    { cause },
  );
}

/** Raises the counter of a SQLite table, or creates it: SQLite has no counter for a table before its first row. */
async function raiseSqliteCounter<Tables>(db: Kysely<Tables>, table: string, floor: number): Promise<void> {
  const { rows } = await sql<{ seq: number }>`select seq from sqlite_sequence where name = ${table}`.execute(
    db,
  );
  const [counter] = rows;
  if (counter === undefined) {
    await sql`insert into sqlite_sequence (name, seq) values (${table}, ${floor})`.execute(db);
  } else if (counter.seq < floor) {
    await sql`update sqlite_sequence set seq = ${floor} where name = ${table}`.execute(db);
  }
}
