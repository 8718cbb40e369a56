import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { DatabaseWithJobs } from '@waxwing/jobs';
import { type OutputFlags, printResult, withJson } from '@waxwing/service/command-line';
import { fileTrouble } from '@waxwing/service/config';
import type { MigrationStatus } from '@waxwing/storage';
import type { AdministrationOptions, CommandLine } from './command-line.js';
import type { TransferCounts } from './transfer/transfer-format.js';

interface FileFlags extends OutputFlags {
  readonly file?: string;
}

/** Adds the commands `migrate`, `status`, `export` and `import`. */
export function addDatabaseCommands(db: CommandLine, options: AdministrationOptions): void {
  withJson(db.command('migrate'))
    .description('migrate the tables (also done at every start)')
    .action(async (flags: OutputFlags) => {
      const before = await statusOf(options);
      await withDatabase(options, { role: 'visiting', mayCreate: true }, async () => undefined);
      const applied = before.flatMap(({ unit, pending }) => pending.map((name) => `${unit}/${name}`));
      const people = applied.length === 0 ? 'Nothing to do.' : `Done: ${applied.join(', ')}.`;
      printResult(options, flags, { machines: { applied }, people });
    });
  withJson(db.command('status'))
    .description('show completed and pending migrations; changes nothing')
    .action(async (flags: OutputFlags) => {
      const units = await statusOf(options);
      const url = await options.databaseUrl();
      const [backend = ''] = url.split(':', 1);
      const pending = units.flatMap((unit) => unit.pending.map((name) => `${unit.unit}/${name}`));
      const newer = units.flatMap((unit) => unit.newer.map((name) => `${unit.unit}/${name}`));
      const people = await describeStatus(url, { pending, newer });
      printResult(options, flags, {
        machines: { backend, units, pending, newer },
        people: `${backend}: ${people}`,
      });
    });
  addTransfer(db, options);
}

async function describeStatus(
  databaseUrl: string,
  { pending, newer }: { readonly pending: readonly string[]; readonly newer: readonly string[] },
): Promise<string> {
  if (newer.length > 0) {
    return `Made by a newer version of this program (it contains ${newer.join(', ')}): install that version.`;
  }
  if (pending.length === 0) return 'Up to date.';
  const { missingFile } = await import('@waxwing/storage');
  const missing = missingFile(databaseUrl);
  const there = missing === undefined ? '' : `There is no file ${missing} yet. `;
  return `${there}Pending: ${pending.join(', ')}.`;
}

function addTransfer(db: CommandLine, options: AdministrationOptions): void {
  withJson(db.command('export'))
    .description('export all rows and jobs; to move a database, first stop every serving process')
    .option('--file <new-file>', 'new file, readable by its owner only (default: standard output)')
    .action(async ({ file, json }: FileFlags) => {
      const counts = await withExistingDatabase(options, (database) =>
        file === undefined
          ? exportTo(process.stdout, { database, place: 'standard output', options })
          : exportToFile(database, file, options),
      );
      // Without a file, the export goes to standard output, so messages must go to standard error.
      const print = (text: string) => (file === undefined ? options.say(text) : options.print(text));
      printResult({ print }, { json }, { machines: counts, people: `Exported ${describe(counts)}.` });
    });
  withJson(db.command('import'))
    .description('import an export of the same version into an empty database, completely or not at all')
    .option('--file <path>', 'file with an export (default: standard input)')
    .action(async ({ file, json }: FileFlags) => {
      const input = file === undefined ? process.stdin : await openToRead(file, options);
      const { importDatabase } = await import('./transfer/import-database.js');
      const migrations = await options.migrations();
      // The role `serving` ensures that no other process serves a half-imported database.
      const mayCreate = options.isDatabaseChosen();
      const counts = await withDatabase(options, { role: 'serving', mayCreate }, async (database) => {
        try {
          return await importDatabase(database, { migrations, input });
        } catch (error) {
          throw aboutFile(error, 'The export could not be read, and nothing was imported', options);
        }
      });
      printResult(options, { json }, { machines: counts, people: `Imported ${describe(counts)}.` });
    });
}

async function statusOf({ databaseUrl, migrations }: AdministrationOptions): Promise<MigrationStatus[]> {
  const { jobMigrations } = await import('@waxwing/jobs');
  const { migrationStatus } = await import('@waxwing/storage');
  return migrationStatus({
    url: await databaseUrl(),
    migrations: [jobMigrations, ...(await migrations())],
  });
}

/**
 * Runs `work` on a database that another process may be serving. Never creates a database, so that a mistyped path is
 * an error.
 */
export function withExistingDatabase<Result>(
  options: AdministrationOptions,
  work: (database: DatabaseWithJobs<unknown>) => Promise<Result>,
): Promise<Result> {
  return withDatabase(options, { role: 'visiting', mayCreate: false }, work);
}

/** Opens the database, applies its migrations and runs `work` on it. */
async function withDatabase<Result>(
  { databaseUrl, migrations, remedyIfMissing, noteChange, clock, say }: AdministrationOptions,
  { role, mayCreate }: { readonly role: 'serving' | 'visiting'; readonly mayCreate: boolean },
  work: (database: DatabaseWithJobs<unknown>) => Promise<Result>,
): Promise<Result> {
  // Loaded lazily, so that help stays fast.
  const { openDatabaseWithJobs } = await import('@waxwing/jobs');
  const onJobError = (error: unknown) => say(String(error));
  const database = await openDatabaseWithJobs<unknown>({
    url: await databaseUrl(),
    migrations: await migrations(),
    role,
    remedyIfMissing: mayCreate ? undefined : remedyIfMissing,
    now: clock,
    onJobError,
  });
  try {
    const result = await work(database);
    if (mayCreate || database.hasWritten()) noteChange(database.location);
    return result;
  } finally {
    await database.close();
  }
}

async function exportToFile(
  database: DatabaseWithJobs<unknown>,
  path: string,
  options: AdministrationOptions,
): Promise<TransferCounts> {
  const output = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  try {
    await once(output, 'open');
  } catch (error) {
    const isFolderMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const trouble = isFolderMissing
      ? 'its folder does not exist; create it, or correct the path'
      : fileTrouble(error);
    throw options.refusal(`The file ${path} cannot be created: ${trouble}.`);
  }
  try {
    const counts = await exportTo(output, { database, place: path, options });
    output.end();
    await finished(output);
    return counts;
  } catch (error) {
    output.destroy();
    await rm(path, { force: true });
    throw aboutFile(error, `The export could not be written to ${path}`, options);
  }
}

interface ExportTarget {
  readonly database: DatabaseWithJobs<unknown>;
  /** The destination of the export, for error messages. */
  readonly place: string;
  readonly options: AdministrationOptions;
}

async function exportTo(
  output: Writable,
  { database, place, options }: ExportTarget,
): Promise<TransferCounts> {
  // The next write rejects with the same error. Without this listener, the error event would crash the process first.
  output.on('error', () => undefined);
  const { exportDatabase } = await import('./transfer/export-database.js');
  try {
    return await exportDatabase(database, { migrations: await options.migrations(), output });
  } catch (error) {
    throw aboutFile(error, `The export could not be written to ${place}`, options);
  }
}

/** Converts an operating system error about a file or pipe into a refusal. Returns other errors unchanged. */
function aboutFile(error: unknown, what: string, { refusal }: AdministrationOptions): unknown {
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined ? error : refusal(`${what}: ${fileTrouble(error)}.`);
}

async function openToRead(path: string, options: AdministrationOptions) {
  try {
    return (await open(path)).createReadStream();
  } catch (error) {
    throw options.refusal(`The file ${path} cannot be read: ${fileTrouble(error)}.`);
  }
}

function describe({ rows, jobs }: TransferCounts): string {
  return `${rows} rows and ${jobs} jobs`;
}
