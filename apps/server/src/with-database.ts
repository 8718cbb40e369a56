import type { Terminal } from '@waxwing/service/command-line';
import type { ServerConfiguration } from './configuration.js';
import type { ServerDatabase } from './tables.js';

/** Does a command's work on the server's database, beside a server that may be running, and closes it. */
export async function withServerDatabase<Result>(
  terminal: Terminal,
  work: (database: ServerDatabase, configuration: ServerConfiguration) => Promise<Result>,
): Promise<Result> {
  // Loaded by the command that runs: help waits for none of it.
  const { readServerEnvironment } = await import('./configuration.js');
  const { openServerDatabase } = await import('./open-database.js');
  const configuration = readServerEnvironment(terminal.environment);
  const database = await openServerDatabase({
    url: configuration.databaseUrl,
    clock: terminal.clock,
    role: 'visiting',
    // A visiting process works no jobs; what goes wrong in the background, after the commit, fails no command.
    onJobError: (error) => terminal.say(String(error)),
  });
  try {
    return await work(database, configuration);
  } finally {
    await database.close();
  }
}
