import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { Environment } from '@waxwing/service/config';
import { type Closers, openInOrder } from '@waxwing/service/lifecycle';
import { createLogger } from '@waxwing/service/logging';
import { createServerPush, type ServerPush } from '../create-server-push.js';
import type { MountOptions } from '../mount-options.js';
import { openPushDatabase } from '../open-push-database.js';
import { RelayAccountWatch } from '../settings/relay-account-watch.js';
import type { ServerPushTables } from '../tables.js';
import { mountedNames } from './mounted-names.js';
import { readPushEnvironment } from './read-push-environment.js';

/** Options that a host passes to `startServerPush`. */
export interface StartOptions extends Omit<MountOptions, 'database' | 'realm' | 'relay'> {
  /** The environment with the `SERVER_PUSH_*` settings, usually the process environment. */
  readonly environment: Environment;
}

/** Push in the host's process, with its own database connection. */
export interface RunningPush extends ServerPush {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  /**
   * Closes in this order: pending requests from phones, jobs (up to 5 seconds), the connection to the relay, the
   * database.
   */
  close(): Promise<void>;
}

const jobsDeadlineMilliseconds = 5000;

/**
 * Opens the database that SERVER_PUSH_DATABASE names, creates a push instance on it, and starts the jobs. Uses the
 * relay in the SERVER_PUSH_RELAY_ settings. Without these settings, uses the relay that `waxwing-server-push` enables,
 * and applies changes to it without a restart.
 *
 * @throws ConfigurationError or DatabaseUnusableError, whose message says how to fix the problem. On failure, closes
 * everything that it opened.
 */
export async function startServerPush(options: StartOptions): Promise<RunningPush> {
  const { push, database, close } = await openInOrder((closers) => open(options, closers));
  return {
    ...push,
    get isConfigured() {
      return push.isConfigured;
    },
    database,
    close,
  };
}

async function open({ environment, ...options }: StartOptions, closers: Closers) {
  const { log = createLogger('server-push', 'warn') } = options;
  const settings = readPushEnvironment(environment);
  const database = await openPushDatabase({ url: settings.databaseUrl.reveal(), log });
  closers.push(() => database.close());
  const relay = { kind: 'not-configured' } as const;
  const push = await createServerPush({ ...options, log, database, realm: settings.realm, relay });
  closers.push(() => push.close());
  const watched = { settings, names: mountedNames, database, log, serverPush: push };
  const watch = await RelayAccountWatch.open(watched);
  closers.push(async () => watch.close());
  closers.push(() => database.jobs.stop(jobsDeadlineMilliseconds));
  closers.push(async () => push.endPolls());
  await database.jobs.start();
  return { push, database };
}
