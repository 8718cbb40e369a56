import type { Terminal } from '@waxwing/service/command-line';
import type { ServerConfiguration } from './configuration.js';
import type { ServerDatabase } from './tables.js';

/** Remedy for a missing database, as the end of a sentence. */
export const remedyIfMissing =
  'name the database of the server in SERVER_DATABASE, or the file with its settings in --env-file; "waxwing-server db migrate" creates a new database';

interface CreationOptions {
  readonly mayCreate?: boolean;
  /** Called before the database is opened, and so before it is created. */
  check?(configuration: ServerConfiguration): Promise<void>;
}

/**
 * Runs a command's work on the server's database and closes it. A server may run at the same time.
 * @throws DatabaseUnusableError if there is no database, unless `mayCreate`.
 */
export async function withServerDatabase<Result>(
  terminal: Terminal,
  work: (database: ServerDatabase, configuration: ServerConfiguration) => Promise<Result>,
  { mayCreate = false, check }: CreationOptions = {},
): Promise<Result> {
  // Imported lazily, so that help starts fast.
  const { readServerEnvironment } = await import('./configuration.js');
  const { openServerDatabase } = await import('./open-database.js');
  const configuration = readServerEnvironment(terminal.environment);
  await check?.(configuration);
  const database = await openServerDatabase({
    url: configuration.databaseUrl,
    clock: terminal.clock,
    role: 'visiting',
    remedyIfMissing: mayCreate ? undefined : remedyIfMissing,
    // This process runs no jobs. Only background errors after a commit get here, and they do not make the command fail.
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
