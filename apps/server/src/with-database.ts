import { openDatabaseWithJobs } from '@waxwing/jobs';
import type { Terminal } from '@waxwing/service/command-line';
import { readServerEnvironment, type ServerConfiguration } from './server-configuration.js';
import { type ServerDatabase, type ServerTables, serverMigrations } from './server-tables.js';

/** Does a command's work on the server's database, beside a server that may be running, and closes it. */
export async function withDatabase<Result>(
  terminal: Terminal,
  work: (database: ServerDatabase, configuration: ServerConfiguration) => Promise<Result>,
): Promise<Result> {
  const configuration = readServerEnvironment(terminal.environment);
  const database = await openDatabaseWithJobs<ServerTables>({
    url: configuration.databaseUrl,
    migrations: serverMigrations,
    role: 'visiting',
    now: terminal.clock,
    // A visiting process works no jobs; what goes wrong in the background, after the commit, fails no command.
    onJobError: (error) => terminal.say(String(error)),
  });
  try {
    return await work(database, configuration);
  } finally {
    await database.close();
  }
}
