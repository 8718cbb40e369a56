import type { Terminal } from '@waxwing/service/command-line';
import type { RelayDatabase } from './tables.js';

/** Does a command's work on the relay's database, beside a relay that may be running, and closes it. */
export async function withRelayDatabase<Result>(
  terminal: Terminal,
  work: (database: RelayDatabase) => Promise<Result>,
): Promise<Result> {
  // Loaded by the command that runs: help waits for none of it.
  const { readDatabaseEnvironment } = await import('./configuration.js');
  const { openRelayDatabase } = await import('./open-database.js');
  const database = await openRelayDatabase({
    url: readDatabaseEnvironment(terminal.environment),
    clock: terminal.clock,
    role: 'visiting',
    onJobError: (error) => terminal.say(String(error)),
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
