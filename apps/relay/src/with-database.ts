import type { Terminal } from '@waxwing/service/command-line';
import type { RelayDatabase } from './tables.js';

/** Remedy for a missing database, as the end of a sentence. */
export const remedyIfMissing =
  'set RELAY_DATABASE to the database of the relay, or --env-file to the file with its settings; "waxwing-relay db migrate" creates a new database';

/**
 * Opens the relay's database, runs a command's `work` on it, and closes it. A running relay may use the database at the
 * same time.
 * @throws DatabaseUnusableError if there is no database, unless `mayCreate`.
 */
export async function withRelayDatabase<Result>(
  terminal: Terminal,
  work: (database: RelayDatabase) => Promise<Result>,
  { mayCreate = false }: { readonly mayCreate?: boolean } = {},
): Promise<Result> {
  // Lazy import, so that `--help` stays fast.
  const { readDatabaseEnvironment } = await import('./configuration.js');
  const { openRelayDatabase } = await import('./open-database.js');
  const database = await openRelayDatabase({
    url: readDatabaseEnvironment(terminal.environment),
    clock: terminal.clock,
    role: 'visiting',
    remedyIfMissing: mayCreate ? undefined : remedyIfMissing,
    onJobError: (error) => terminal.say(String(error)),
  });
  try {
    const result = await work(database);
    if (mayCreate || database.hasWritten()) terminal.noteChange?.(database.location);
    return result;
  } finally {
    await database.close();
  }
}
