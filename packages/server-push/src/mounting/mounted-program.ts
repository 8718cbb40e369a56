import { CommandError, type Terminal } from '@waxwing/service/command-line';
import type { PushProgram, PushWork } from '../commands/push-program.js';
import type { ServerPushTables } from '../tables.js';
import { mountedNames } from './mounted-names.js';

/** What the admin should do if a command finds no database, as the end of an error message. */
export const remedyIfMissing =
  'start the server once to create it, and set SERVER_PUSH_DATABASE to the same database';

/** Gives the push commands access to a mounted push. */
export function mountedProgram(terminal: Terminal): PushProgram {
  return {
    terminal,
    names: mountedNames,
    userIs: { kind: 'id', description: 'the id of the user, a positive integer' },
    withPush: (work) => withPush(terminal, work),
    async findUser(_, name) {
      const { requireUserId } = await import('../mount-options.js');
      if (/^[1-9]\d{0,15}$/.test(name)) return requireUserId(Number(name));
      throw new CommandError(`"${name}" is not the id of a user: give a positive integer.`);
    },
    findContact: async () => undefined,
  };
}

async function withPush<Result>(
  terminal: Terminal,
  work: (push: PushWork) => Promise<Result>,
): Promise<Result> {
  // Imported lazily, so that help is fast.
  const { openDatabaseWithJobs } = await import('@waxwing/jobs');
  const { loadFastestSodium } = await import('@waxwing/sodium/native');
  const { serverPushMigrations } = await import('../tables.js');
  const { readPushEnvironment } = await import('./read-push-environment.js');
  const settings = readPushEnvironment(terminal.environment);
  const database = await openDatabaseWithJobs<ServerPushTables>({
    url: settings.databaseUrl.reveal(),
    migrations: [serverPushMigrations],
    role: 'visiting',
    mayHoldOthers: true,
    remedyIfMissing,
    now: terminal.clock,
    // This process runs no jobs, so an error here comes from background work after a commit and must not fail the
    // command.
    onJobError: (error) => terminal.say(String(error)),
  });
  try {
    const { sodium } = await loadFastestSodium();
    const result = await work({ database, settings, realm: settings.realm, sodium });
    if (database.hasWritten()) terminal.noteChange?.(database.location);
    return result;
  } finally {
    await database.close();
  }
}
