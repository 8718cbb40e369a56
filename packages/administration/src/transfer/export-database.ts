import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { jobMigrations } from '@waxwing/jobs';
import {
  type Database,
  DatabaseUnusableError,
  type MigrationSet,
  readMigrationStatus,
  readPages,
  type UntypedDatabase,
} from '@waxwing/storage';
import { sql } from 'kysely';
import { readGeneratedColumns, readTables, type TransferTable } from './table-catalog.js';
import { encodeCell, type TransferCounts, type TransferLine } from './transfer-format.js';

/** Options of {@link exportDatabase}. */
export interface ExportOptions {
  readonly migrations: readonly MigrationSet[];
  /** Receives the export, one JSON value per line. The caller closes the stream. */
  readonly output: Writable;
}

const pageSize = 1000;

/**
 * Exports all rows and jobs as lines of JSON, which {@link importDatabase} can import into SQLite or PostgreSQL. The
 * export is a snapshot without later writes, so stop all serving processes before you move a database. Resolves to the
 * number of rows and jobs.
 */
export async function exportDatabase<Tables>(
  database: Database<Tables>,
  { migrations, output }: ExportOptions,
): Promise<TransferCounts> {
  const sets = [jobMigrations, ...migrations];
  const reading = database.db.transaction().setAccessMode('read only').setIsolationLevel('repeatable read');
  return await reading.execute(async (transaction) => {
    // Untyped, because the tables to export are read from the database's catalog.
    const db: UntypedDatabase = transaction;
    const counts = { rows: 0, jobs: 0 };
    await writeLine(output, { waxwingExport: 1, migrations: await namesOfMigrations(db, sets) });
    for (const table of await readTables(db, bookkeepingTables(sets))) {
      for await (const rows of readRows(db, table)) {
        counts[kindOfRows(table.name)] += rows.length;
        for (const row of rows) await writeLine(output, { table: table.name, row: encodeRow(row) });
      }
    }
    for (const generated of await readGeneratedColumns(db)) await writeLine(output, { generated });
    await writeLine(output, { end: counts });
    return counts;
  });
}

/** Returns the names of the tables in which Kysely records applied migrations. These tables are not exported. */
export function bookkeepingTables(sets: readonly MigrationSet[]): string[] {
  return sets.flatMap(({ unit }) => [`${unit}_migrations`, `${unit}_migrations_lock`]);
}

/** Returns the name of the count that includes this table's rows. */
export function kindOfRows(table: string): keyof TransferCounts {
  return table === 'jobs' ? 'jobs' : 'rows';
}

/** Reads the names of the applied migrations of each unit, in the order of application. */
export async function namesOfMigrations(
  db: UntypedDatabase,
  sets: readonly MigrationSet[],
): Promise<Record<string, readonly string[]>> {
  const statuses = await readMigrationStatus(db, sets);
  return Object.fromEntries(statuses.map(({ unit, done }) => [unit, done]));
}

function readRows(
  db: UntypedDatabase,
  { name, columns, keyColumns }: TransferTable,
): AsyncIterable<readonly Record<string, unknown>[]> {
  if (keyColumns.length === 0) {
    throw new DatabaseUnusableError(
      `The table ${name} has no primary key, so its rows cannot be read in pages.`,
    );
  }
  const refs = (names: readonly string[]) => sql.join(names.map((column) => sql.ref(column)));
  const order = refs(keyColumns);
  return readPages(pageSize, async (last?: Record<string, unknown>) => {
    const after =
      last === undefined
        ? sql``
        : sql`where (${order}) > (${sql.join(keyColumns.map((column) => last[column]))})`;
    const { rows } = await sql<Record<string, unknown>>`
      select ${refs(columns)} from ${sql.table(name)} ${after} order by ${order} limit ${sql.lit(pageSize)}`.execute(
      db,
    );
    return rows;
  });
}

function encodeRow(row: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, encodeCell(value)]));
}

async function writeLine(output: Writable, line: TransferLine): Promise<void> {
  if (output.errored) throw output.errored;
  if (!output.write(`${JSON.stringify(line)}\n`)) await once(output, 'drain');
}
