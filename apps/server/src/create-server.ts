import { openDatabaseWithJobs } from '@waxwing/jobs';
import { createServerPush, type RelayConfiguration, type ServerPush } from '@waxwing/server-push';
import {
  type Clock,
  ConfigurationError,
  createHttpApp,
  createJobLog,
  type Log,
  Metrics,
  Readiness,
  readPrivateFile,
  Secret,
} from '@waxwing/service';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { EventBell } from './event-queues/event-bell.js';
import { createPublisher } from './event-queues/publish-events.js';
import { removeIdleQueues } from './event-queues/remove-idle-queues.js';
import { bindServerOperations } from './operations.js';
import { readRealm } from './realm/realm-store.js';
import type { RelaySettings, ServerConfiguration } from './server-configuration.js';
import { type ServerDatabase, type ServerTables, serverMigrations } from './server-tables.js';
import { authenticateUser, holdUser } from './users/authenticate.js';

export interface ServerOptions {
  readonly configuration: ServerConfiguration;
  readonly log: Log;
  readonly clock: Clock;
  /** A number from 0 up to, not including, 1. */
  readonly random: () => number;
  /** How long `GET /events` waits before it answers with a heartbeat; 50 where nothing is said. */
  readonly longPollTimeoutSeconds?: number;
  /** Longest time that the relay may take to answer; 15 seconds where nothing is said. */
  readonly relayTimeoutMilliseconds?: number;
}

/** A server that is ready to answer, and does its jobs; it listens nowhere yet. */
export interface Server {
  readonly app: Awaited<ReturnType<typeof createHttpApp>>;
  readonly database: ServerDatabase;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly realmUuid: string;
  /** Stops answering, hands back what runs, and frees everything. */
  close(): Promise<void>;
}

const defaultLongPollTimeoutSeconds = 50;
const jobDeadlineMilliseconds = 5000;
const removeIdleQueuesEveryMilliseconds = 5 * 60_000;

/** @throws ConfigurationError or DatabaseUnusableError with sentences for the admin. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { configuration, log, clock } = options;
  const relay = await readRelayKey(configuration.relay);
  const metrics = new Metrics();
  const database = await openDatabaseWithJobs<ServerTables>({
    url: configuration.databaseUrl,
    migrations: serverMigrations,
    role: 'serving',
    now: clock,
    ...createJobLog(log),
    onDeadJobsRemoved: (count) => metrics.rowsRemoved.inc({ kind: 'dead-letter' }, count),
  });
  try {
    return await assemble(options, { database, relay, metrics });
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function assemble(
  options: ServerOptions,
  { database, relay, metrics }: Pick<Mounting, 'database' | 'relay' | 'metrics'>,
): Promise<Server> {
  const { clock, configuration, log } = options;
  const { bell, takeDown } = await EventBell.hang(database.signals);
  const realm = await readRealm(database, configuration.realm, clock());
  const serverPush = await mountServerPush(options, { database, relay, metrics, bell, realm });
  const longPollTimeoutSeconds = options.longPollTimeoutSeconds ?? defaultLongPollTimeoutSeconds;
  const context = { clock, log, database, realm, bell, serverPush, longPollTimeoutSeconds };
  const readiness = new Readiness({ database: () => database.check() }, log);
  const app = await createHttpApp({
    log,
    metrics,
    operations: bindServerOperations(context),
    readiness,
    limits: configuration.http,
  });
  database.jobs.schedule('event-queues/remove-idle', removeIdleQueuesEveryMilliseconds, async (signal) => {
    metrics.rowsRemoved.inc({ kind: 'event-queue' }, await removeIdleQueues(context, signal));
  });
  metrics.watchJobs(() => database.jobs.tally());
  await database.jobs.start();
  return {
    app,
    database,
    metrics,
    readiness,
    realmUuid: realm.uuid,
    async close() {
      // Side by side: a request that takes its time must not use up that of the jobs, which are handed back in the end.
      await Promise.all([app.close(), database.jobs.stop(jobDeadlineMilliseconds)]);
      takeDown();
      await serverPush.close();
      await database.close();
    },
  };
}

interface Mounting {
  readonly database: ServerDatabase;
  readonly relay: RelayConfiguration;
  readonly metrics: Metrics;
  readonly bell: EventBell;
  readonly realm: Awaited<ReturnType<typeof readRealm>>;
}

async function mountServerPush(options: ServerOptions, mounting: Mounting): Promise<ServerPush> {
  const { clock, configuration, log, random, relayTimeoutMilliseconds } = options;
  const { bell, database, metrics, realm, relay } = mounting;
  const { sodium, nativeUnavailableReason } = await loadFastestSodium();
  if (nativeUnavailableReason !== undefined) log.warn(nativeUnavailableReason);
  return createServerPush({
    database,
    authenticate: async (head) => {
      const user = await authenticateUser(database, head);
      return { userId: user.id, isBot: user.isBot, hold: (transaction) => holdUser(transaction, user) };
    },
    publish: createPublisher(bell, clock),
    relay,
    registrationsPerHour: configuration.registrationsPerHour,
    realm,
    sodium,
    clock,
    random,
    log,
    metrics,
    ...(relayTimeoutMilliseconds === undefined ? {} : { relayTimeoutMilliseconds }),
  });
}

async function readRelayKey(settings: RelaySettings): Promise<RelayConfiguration> {
  if (settings.kind === 'not-configured') return settings;
  const { kind, url, serverId, serverKeyFile } = settings;
  const key = (await readPrivateFile(serverKeyFile, 'SERVER_RELAY_SERVER_KEY_FILE')).trim();
  if (key === '') {
    throw new ConfigurationError([
      `The file ${serverKeyFile} holds no key: write into it what waxwing-relay servers add printed.`,
    ]);
  }
  return { kind, url, serverId, serverKey: new Secret(key) };
}
