import type { Terminal } from '@waxwing/service/command-line';
import type { RelayDatabase } from './tables.js';

/** Runs a command's `work` on the relay's database and closes it. A relay may be running at the same time. */
export async function withRelayDatabase<Result>(
  terminal: Terminal,
  work: (database: RelayDatabase) => Promise<Result>,
): Promise<Result> {
  // Lazy import: `--help` must not wait for it.
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
