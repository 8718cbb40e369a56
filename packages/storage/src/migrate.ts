import { type Kysely, type Migration, sql, type Transaction } from 'kysely';
import { DatabaseUnavailableError } from './database-unavailable-error.js';
import { DatabaseUnusableError } from './database-unusable-error.js';
import type { UntypedDatabase } from './untyped-database.js';

/** Forward-only migrations of one unit's tables, keyed by name. They run in the order of their names. */
export interface MigrationSet {
  /** Prefix of the table that records completed migrations (`<unit>_migrations`). */
  readonly unit: string;
  readonly migrations: Readonly<Record<string, Pick<Migration, 'up'>>>;
  /**
   * Tables that already contain rows in a new database, with their row counts. An import replaces these rows. Emptying
   * the tables in this order violates no foreign keys.
   */
  readonly rowsOfNewDatabase?: Readonly<Record<string, number>>;
  /** Whether several programs use this unit. If so, its tables do not identify the program. Default: false. */
  readonly isShared?: boolean;
}

/** Returns the units whose tables identify a program's database. */
export function identifyingUnits(sets: readonly MigrationSet[]): string[] {
  const own = sets.filter(({ isShared }) => isShared !== true);
  return (own.length === 0 ? sets : own).map(({ unit }) => unit);
}

/** Completed and pending migrations of one unit, in order. */
export interface MigrationStatus {
  readonly unit: string;
  readonly done: readonly string[];
  readonly pending: readonly string[];
  /** Completed migrations that this program does not know: a newer version ran them. */
  readonly newer: readonly string[];
}

/**
 * Migrates the tables of all units in one transaction, which first takes `lock`. If several processes start at the same
 * time, one of them migrates, and the others then find nothing to do.
 *
 * @throws DatabaseUnusableError if a newer version has migrated the database, or if a migration fails (and is rolled
 * back)
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

/** Reads the status of each unit's migrations. Changes nothing. */
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

/** Computes a unit's status from the names of its completed migrations. */
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
      `The database was made by a newer version of this program (it contains ${unit} step ${unknown.at(-1)}): install that version, or restore a backup from before.`,
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
        `The database could not be migrated (${unit}, step ${name}): ${(cause as Error).message}; restore a backup, or fix the cause and start again.`,
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
