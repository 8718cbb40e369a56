import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { MigrationStatus } from '../migrate.js';
import { type Database, migrationStatus, openDatabase } from '../open-database.js';
import { exportDatabase } from '../transfer/export-database.js';
import { importDatabase } from '../transfer/import-database.js';
import type { TransferCounts } from '../transfer/transfer-format.js';
import { type AdministrationOptions, type CommandLine, type OutputFlags, withJson } from './command-line.js';

interface FileFlags extends OutputFlags {
  readonly file?: string;
}

/** Adds `db migrate|status|export|import`. */
export function addDatabaseCommands(program: CommandLine, options: AdministrationOptions): void {
  const db = program.command('db').description('the database: its tables, and moving it to another one');
  withJson(db.command('migrate'))
    .description('bring the tables up to date; starting does the same')
    .action(async ({ json }: OutputFlags) => {
      const before = await statusOf(options);
      await withDatabase(options, 'visiting', async () => undefined);
      const applied = before.flatMap(({ unit, pending }) => pending.map((name) => `${unit}/${name}`));
      const people = applied.length === 0 ? 'There was nothing to do.' : `Done: ${applied.join(', ')}.`;
      options.print(json ? JSON.stringify({ applied }) : people);
    });
  withJson(db.command('status'))
    .description('show what has been done of the tables, and what the next start would do; changes nothing')
    .action(async ({ json }: OutputFlags) => {
      const units = await statusOf(options);
      const [backend = ''] = options.databaseUrl().split(':', 1);
      const pending = units.flatMap((unit) => unit.pending.map((name) => `${unit.unit}/${name}`));
      const people = pending.length === 0 ? 'Up to date.' : `Still to be done: ${pending.join(', ')}.`;
      options.print(json ? JSON.stringify({ backend, units, pending }) : `${backend}: ${people}`);
    });
  addTransfer(db, options);
}

function addTransfer(db: CommandLine, options: AdministrationOptions): void {
  withJson(db.command('export'))
    .description('write all rows and jobs as they are now; to move, stop every serving process first')
    .option(
      '--file <path>',
      'a new file, which only its owner may read; standard output where it is left out',
    )
    .action(async ({ file, json }: FileFlags) => {
      const counts = await withDatabase(options, 'visiting', (database) =>
        file === undefined
          ? exportDatabase(database, { migrations: options.migrations, output: process.stdout })
          : exportToFile(database, file, options),
      );
      const text = json ? JSON.stringify(counts) : `Exported ${describe(counts)}.`;
      // Standard output holds the export itself.
      if (file === undefined) options.say(text);
      else options.print(text);
    });
  withJson(db.command('import'))
    .description('fill an empty database with an export of the same version: all of it or nothing')
    .option('--file <path>', 'what was exported; standard input where it is left out')
    .action(async ({ file, json }: FileFlags) => {
      const input = file === undefined ? process.stdin : await openToRead(file, options);
      const { migrations } = options;
      // In the place of a serving process, so that none of them works on what is only half there.
      const counts = await withDatabase(options, 'serving', (database) =>
        importDatabase(database, { migrations, input }),
      );
      options.print(json ? JSON.stringify(counts) : `Imported ${describe(counts)}.`);
    });
}

function statusOf({ databaseUrl, migrations }: AdministrationOptions): Promise<MigrationStatus[]> {
  return migrationStatus({ url: databaseUrl(), migrations });
}

/** Runs `work` on the database, its tables up to date. */
export async function withDatabase<Result>(
  { databaseUrl, migrations, clock, say }: AdministrationOptions,
  role: 'serving' | 'visiting',
  work: (database: Database<unknown>) => Promise<Result>,
): Promise<Result> {
  const onJobError = (error: unknown) => say(String(error));
  const database = await openDatabase<unknown>({
    url: databaseUrl(),
    migrations,
    role,
    now: clock,
    onJobError,
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

async function exportToFile(
  database: Database<unknown>,
  path: string,
  options: AdministrationOptions,
): Promise<TransferCounts> {
  const output = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  try {
    await once(output, 'open');
  } catch (error) {
    throw options.refusal(
      `The file ${path} cannot be made: ${(error as Error).message}; name one that does not exist yet.`,
    );
  }
  try {
    const counts = await exportDatabase(database, { migrations: options.migrations, output });
    output.end();
    await once(output, 'close');
    return counts;
  } catch (error) {
    output.destroy();
    await rm(path, { force: true });
    throw error;
  }
}

async function openToRead(path: string, options: AdministrationOptions) {
  try {
    return (await open(path)).createReadStream();
  } catch (error) {
    throw options.refusal(`The file ${path} cannot be read: ${(error as Error).message}.`);
  }
}

function describe({ rows, jobs }: TransferCounts): string {
  return `${rows} rows and ${jobs} jobs`;
}
