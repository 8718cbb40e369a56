import { type Kysely, type Migration, sql, type Transaction } from 'kysely';
import { DatabaseUnavailableError } from './database-unavailable-error.js';
import { DatabaseUnusableError } from './database-unusable-error.js';
import type { UntypedDatabase } from './untyped-database.js';

/** Forward-only changes of one unit's tables, by name; run in the order of their names. */
export interface MigrationSet {
  /** Names the table that remembers what was run. */
  readonly unit: string;
  readonly migrations: Readonly<Record<string, Pick<Migration, 'up'>>>;
  /**
   * The tables in which a new database has rows, and how many, which an import replaces by its own; in an order in which
   * they can be emptied.
   */
  readonly rowsOfNewDatabase?: Readonly<Record<string, number>>;
}

/** What has been run of one unit, in order, and what is still to come. */
export interface MigrationStatus {
  readonly unit: string;
  readonly done: readonly string[];
  readonly pending: readonly string[];
  /** Those of the done ones that this program does not know, because a newer version has run them. */
  readonly newer: readonly string[];
}

/**
 * Brings the tables of each unit up to date, all in one transaction that `lock` begins with, so that of several
 * processes that start at once one does it and the others find it done.
 * @throws DatabaseUnusableError when the database comes from a newer version, or a migration fails (nothing of it stays).
 */
export async function migrate<Tables>(
  db: Kysely<Tables>,
  sets: readonly MigrationSet[],
  lock: (transaction: Transaction<Tables>) => Promise<void>,
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await lock(transaction);
    for (const set of sets) await migrateUnit(transaction, set);
  });
}

/** Reads what has been run, without changing anything. */
export async function readMigrationStatus(
  db: UntypedDatabase,
  sets: readonly MigrationSet[],
): Promise<MigrationStatus[]> {
  const statuses: MigrationStatus[] = [];
  for (const { unit, migrations } of sets) {
    const done = await executedMigrations(db, unit);
    statuses.push(statusOf({ unit, migrations }, done));
  }
  return statuses;
}

/** What is to be said of a unit of which these steps have been run. */
export function statusOf({ unit, migrations }: MigrationSet, done: readonly string[]): MigrationStatus {
  const known = Object.keys(migrations).sort();
  return {
    unit,
    done,
    pending: known.filter((name) => !done.includes(name)),
    newer: done.filter((name) => !known.includes(name)),
  };
}

async function migrateUnit<Tables>(
  db: Transaction<Tables>,
  { unit, migrations }: MigrationSet,
): Promise<void> {
  const table = `${unit}_migrations`;
  const done = await executedMigrations(db, unit);
  const unknown = done.filter((name) => !Object.hasOwn(migrations, name));
  if (unknown.length > 0) {
    throw new DatabaseUnusableError(
      `The database was made by a newer version of this program (it holds ${unit} step ${unknown.at(-1)}): install that version, or restore a backup from before.`,
    );
  }
  const pending = Object.entries(migrations).filter(([name]) => !done.includes(name));
  for (const [name, migration] of pending.sort(([a], [b]) => (a < b ? -1 : 1))) {
    try {
      await db.schema
        .createTable(table)
        .ifNotExists()
        .addColumn('name', 'text', (column) => column.primaryKey())
        .addColumn('timestamp', 'text', (column) => column.notNull())
        .execute();
      await migration.up(db);
      const now = new Date().toISOString();
      await sql`insert into ${sql.table(table)} (name, timestamp) values (${name}, ${now})`.execute(db);
    } catch (cause) {
      if (cause instanceof DatabaseUnavailableError) throw cause;
      throw new DatabaseUnusableError(
        `The database could not be migrated (${unit}, step ${name}): ${(cause as Error).message}; restore a backup or mend the cause and start again.`,
        { cause },
      );
    }
  }
}

async function executedMigrations(db: UntypedDatabase, unit: string): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  const exists = tables.some(
    ({ name, schema }) => name === `${unit}_migrations` && (schema ?? 'public') === 'public',
  );
  if (!exists) return [];
  const rows = await sql<{ name: string }>`
    select name from ${sql.table(`${unit}_migrations`)} order by name`.execute(db);
  return rows.rows.map(({ name }) => name);
}
