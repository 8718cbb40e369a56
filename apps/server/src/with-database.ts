import type { Terminal } from '@waxwing/service/command-line';
import type { ServerConfiguration } from './configuration.js';
import type { ServerDatabase } from './tables.js';

/** Runs a command's work on the server's database and closes it. A server may run at the same time. */
export async function withServerDatabase<Result>(
  terminal: Terminal,
  work: (database: ServerDatabase, configuration: ServerConfiguration) => Promise<Result>,
): Promise<Result> {
  // Imported lazily, so that help starts fast.
  const { readServerEnvironment } = await import('./configuration.js');
  const { openServerDatabase } = await import('./open-database.js');
  const configuration = readServerEnvironment(terminal.environment);
  const database = await openServerDatabase({
    url: configuration.databaseUrl,
    clock: terminal.clock,
    role: 'visiting',
    // A visiting process runs no jobs. Background errors after the commit do not fail a command.
    onJobError: (error) => terminal.say(String(error)),
  });
  try {
    return await work(database, configuration);
  } finally {
    await database.close();
  }
}
