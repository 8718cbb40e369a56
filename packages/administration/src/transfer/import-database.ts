import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { jobMigrations } from '@waxwing/jobs';
import {
  type Database,
  DatabaseUnusableError,
  isPostgres,
  type MigrationSet,
  type UntypedDatabase,
} from '@waxwing/storage';
import { sql } from 'kysely';
import { bookkeepingTables, kindOfRows, namesOfMigrations } from './export-database.js';
import { readTables, restoreGeneratedColumn, type TransferTable } from './table-catalog.js';
import { type CellValue, decodeCell, type TransferCounts, type TransferLine } from './transfer-format.js';

/** Options of {@link importDatabase}. */
export interface ImportOptions {
  readonly migrations: readonly MigrationSet[];
  /** The output of {@link exportDatabase}. */
  readonly input: Readable;
}

type Row = Readonly<Record<string, CellValue>>;

const rowsPerInsert = 500;
const lineKinds = ['waxwingExport', 'row', 'generated', 'end'] as const;

/**
 * Imports an export into an empty database, in one atomic transaction. Resolves to the number of rows and jobs.
 * @throws DatabaseUnusableError if the database is not empty, or if the export is truncated or from another version.
 */
export async function importDatabase<Tables>(
  database: Database<Tables>,
  { migrations, input }: ImportOptions,
): Promise<TransferCounts> {
  const sets = [jobMigrations, ...migrations];
  const lines = new ExportLines(input);
  // Bypasses group commit, which may run a write twice, whereas the input can be read only once. An import may also
  // take a long time.
  return await database.db.transaction().execute(async (transaction) => {
    // Untyped, because the tables to import are read from the database's catalog.
    const db: UntypedDatabase = transaction;
    const tables = await readTables(db, bookkeepingTables(sets));
    await refuseOtherVersion(await lines.next(), await namesOfMigrations(db, sets));
    await emptyNewDatabase(db, tables, Object.assign({}, ...sets.map((set) => set.rowsOfNewDatabase)));
    const writer = new ImportWriter(db, new Map(tables.map((table) => [table.name, table])));
    for (;;) {
      const line = await lines.next();
      if (line === undefined) throw cutShort(lines.number);
      if ('end' in line) return await writer.finish(line.end);
      await writer.take(line);
    }
  });
}

class ImportWriter {
  readonly #db: UntypedDatabase;
  readonly #tables: ReadonlyMap<string, TransferTable>;
  readonly #counts = { rows: 0, jobs: 0 };
  #table = '';
  #rows: Row[] = [];

  constructor(db: UntypedDatabase, tables: ReadonlyMap<string, TransferTable>) {
    this.#db = db;
    this.#tables = tables;
  }

  async take(line: TransferLine): Promise<void> {
    if ('row' in line) {
      if (line.table !== this.#table || this.#rows.length >= rowsPerInsert) await this.#flush();
      this.#table = line.table;
      this.#rows.push(line.row);
    } else if ('generated' in line) {
      await this.#flush();
      await restoreGeneratedColumn(this.#db, line.generated);
    }
  }

  async finish(expected: TransferCounts): Promise<TransferCounts> {
    await this.#flush();
    const { rows, jobs } = this.#counts;
    if (rows !== expected.rows || jobs !== expected.jobs) throw cutShort();
    await releaseJobs(this.#db);
    return { rows, jobs };
  }

  async #flush(): Promise<void> {
    const rows = this.#rows.splice(0);
    if (rows.length > 0) await this.#insertRows(rows);
    this.#counts[kindOfRows(this.#table)] += rows.length;
  }

  async #insertRows(rows: readonly Row[]): Promise<void> {
    const table = this.#tables.get(this.#table);
    if (table === undefined) {
      throw new DatabaseUnusableError(
        `The export contains the table ${this.#table}, which this program does not know.`,
      );
    }
    const columns = sql.join(table.columns.map((column) => sql.ref(column)));
    const values = rows.map(
      (row) => sql`(${sql.join(table.columns.map((column) => decodeCell(row[column] ?? null)))})`,
    );
    // Without this clause, PostgreSQL rejects explicit ids in identity columns.
    const keeping = isPostgres(this.#db) ? sql`overriding system value` : sql``;
    await sql`insert into ${sql.table(table.name)} (${columns}) ${keeping} values ${sql.join(values)}`.execute(
      this.#db,
    );
  }
}

/** Removes all leases: the processes that held them use the exported database, not this one. */
async function releaseJobs(db: UntypedDatabase): Promise<void> {
  await sql`update jobs set leased_until = null where leased_until is not null`.execute(db);
}

/** Reads and parses the lines of an export, and counts them for error messages. */
class ExportLines {
  readonly #lines: AsyncIterator<string>;
  /** Number of the last line read. The first line is 1. */
  number = 0;

  constructor(input: Readable) {
    this.#lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
  }

  /** Resolves to the next line, or `undefined` after the last one. */
  async next(): Promise<TransferLine | undefined> {
    const { value, done } = await this.#lines.next();
    if (done) return undefined;
    this.number++;
    const line = parseLine(value);
    if (line === undefined) {
      throw new DatabaseUnusableError(
        `The export is damaged in line ${this.number}: nothing was imported; export again, or copy the file again.`,
      );
    }
    return line;
  }
}

function parseLine(text: string): TransferLine | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The caller reports the malformed line with its number.
    return undefined;
  }
  const isLine = typeof value === 'object' && value !== null && lineKinds.some((kind) => kind in value);
  return isLine ? (value as TransferLine) : undefined;
}

function cutShort(afterLine?: number): DatabaseUnusableError {
  const where = afterLine === undefined ? '' : ` after line ${afterLine}`;
  return new DatabaseUnusableError(
    `The export is truncated${where}: nothing was imported; export again and check the disk.`,
  );
}

async function refuseOtherVersion(
  header: TransferLine | undefined,
  here: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  if (header === undefined || !('waxwingExport' in header)) {
    throw new DatabaseUnusableError(
      'This is not an exported database: its first line is not the header of an export.',
    );
  }
  if (JSON.stringify(sorted(header.migrations)) !== JSON.stringify(sorted(here))) {
    throw new DatabaseUnusableError(
      'The export was made by another version of this program: export and import with the same one.',
    );
  }
}

function sorted(migrations: Readonly<Record<string, readonly string[]>>) {
  return Object.entries(migrations).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Deletes the rows that migrations insert. @throws DatabaseUnusableError if the database contains any other rows. */
async function emptyNewDatabase(
  db: UntypedDatabase,
  tables: readonly TransferTable[],
  rowsOfNew: Readonly<Record<string, number>>,
): Promise<void> {
  for (const { name } of tables) {
    const allowed = rowsOfNew[name] ?? 0;
    const { rows } = await sql`select 1 from ${sql.table(name)} limit ${allowed + 1}`.execute(db);
    if (rows.length > allowed) throw notEmpty(name === 'jobs' ? 'job queue' : `table ${name}`);
  }
  for (const name of Object.keys(rowsOfNew)) await sql`delete from ${sql.table(name)}`.execute(db);
}

function notEmpty(where: string): DatabaseUnusableError {
  return new DatabaseUnusableError(
    `The database is not empty (its ${where} is not): import into a new database instead.`,
  );
}
