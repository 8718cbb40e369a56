import type { Terminal } from '@waxwing/service/command-line';
import type { ServerConfiguration } from './configuration.js';
import type { ServerDatabase } from './tables.js';

/** The remedy for a missing database, phrased as the end of a sentence. */
export const remedyIfMissing =
  'name the database of the server in SERVER_DATABASE, or the file with its settings in --env-file; "waxwing-server db migrate" creates a new database';

interface CreationOptions {
  readonly mayCreate?: boolean;
  /** Runs before the database is opened or created. */
  check?(configuration: ServerConfiguration): Promise<void>;
}

/**
 * Opens the server's database, runs a command's work on it and closes it. The server may be running at the same time.
 * @throws DatabaseUnusableError if there is no database, unless `mayCreate`.
 */
export async function withServerDatabase<Result>(
  terminal: Terminal,
  work: (database: ServerDatabase, configuration: ServerConfiguration) => Promise<Result>,
  { mayCreate = false, check }: CreationOptions = {},
): Promise<Result> {
  // Imported lazily, so that `--help` stays fast.
  const { readServerEnvironment } = await import('./configuration.js');
  const { openServerDatabase } = await import('./open-database.js');
  const configuration = readServerEnvironment(terminal.environment);
  await check?.(configuration);
  const database = await openServerDatabase({
    url: configuration.databaseUrl,
    clock: terminal.clock,
    role: 'visiting',
    remedyIfMissing: mayCreate ? undefined : remedyIfMissing,
    // This process runs no jobs, so only background errors after a commit arrive here. They do not fail the command.
    onJobError: (error) => terminal.say(String(error)),
  });
  try {
    const result = await work(database, configuration);
    if (mayCreate || database.hasWritten()) terminal.noteChange?.(database.location);
    return result;
  } finally {
    await database.close();
  }
}
