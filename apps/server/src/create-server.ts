import type { MessageId } from '@waxwing/protocol';
import {
  createServerPush,
  RelayAccountWatch,
  raiseClientDeviceIds,
  readRelayKey,
  type ServerPush,
} from '@waxwing/server-push';
import { packageVersion } from '@waxwing/service/command-line';
import type { DashboardPorts } from '@waxwing/service/dashboard';
import { createHttpApp, type HttpService, Readiness, StartFileWatch } from '@waxwing/service/http';
import { type Clock, type Closers, openInOrder, systemClock } from '@waxwing/service/lifecycle';
import { createJobLog, createLogger, type Log } from '@waxwing/service/logging';
import { Metrics } from '@waxwing/service/metrics';
import type { Sodium } from '@waxwing/sodium';
import { loadFastestSodium } from '@waxwing/sodium/native';
import type { ServerConfiguration } from './configuration.js';
import { KnownLinkifiers } from './content/linkifiers/known-linkifiers.js';
import { openUploads } from './content/uploads/uploads.js';
import type { ServerContext } from './context.js';
import { handleReadingJobs } from './conversations/messages/flags/read-archived-channel.js';
import { markLeftChannelsReadJob } from './conversations/messages/flags/read-left-channels.js';
import { isStillNotified } from './conversations/messages/push/is-still-notified.js';
import { handleMessageJobs } from './conversations/messages/push/message-jobs.js';
import { openDashboard } from './dashboard/open-dashboard.js';
import { watchedChecks } from './file-checks.js';
import { AddressFailures } from './membership/sign-in/address-failures.js';
import { createHashQueue } from './membership/sign-in/hash-queue.js';
import { openServerDatabase } from './open-database.js';
import { bindServerOperations } from './operations.js';
import { realmLimits } from './people/realm/realm-limits.js';
import { readRealm } from './people/realm/realm-store.js';
import { UserListCache } from './people/users/user-list-cache.js';
import { authenticateUser, lockRequester } from './platform/authentication/authenticate.js';
import { createPublisher } from './platform/event-queues/publish-events.js';
import { QueueListeners } from './platform/event-queues/queue-listeners.js';
import { noteServerStart } from './platform/event-queues/server-start.js';
import { adminNames } from './push/admin-names.js';
import { pushStatusEvents } from './push/push-status-events.js';
import { createRegisterQueue } from './register/register-queue.js';
import { scheduleServerJobs } from './scheduled-jobs.js';
import type { ServerDatabase } from './tables.js';

/** Dependencies that tests replace. In production, the defaults apply. */
export interface ServerOverrides {
  /** Default: logs to standard output at the configured level. */
  readonly log?: Log;
  readonly clock?: Clock;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  readonly random?: () => number;
  readonly timings?: ServerTimings;
  /** Folder of the dashboard's built page. */
  readonly pageFolder?: string;
}

interface ServerTimings {
  /** How long `GET /events` waits before it responds with a heartbeat. Default: 50 seconds. */
  readonly longPollTimeoutSeconds?: number;
  /** Timeout of requests to the relay. Default: 15 seconds. */
  readonly relayTimeoutMilliseconds?: number;
}

/** A server that is already processing jobs but not yet listening. */
export interface Server extends HttpService {
  readonly log: Log;
  readonly database: ServerDatabase;
  readonly realmUuid: string;
  /**
   * Reloads the relay's key.
   * @throws ConfigurationError if the key is invalid; the previous key stays in use.
   */
  reloadCredentials(): Promise<void>;
}

const defaultLongPollTimeoutSeconds = 50;
const jobsDeadlineMilliseconds = 5000;
/**
 * Maximum bytes of a request's URL and header fields. zulip-js sends edits in the query string, where a code point
 * takes up to 12 bytes: four UTF-8 bytes, each escaped. The remaining 24 KiB are for header fields and other
 * parameters.
 */
const maximumHeadBytes = 12 * realmLimits.max_message_length + 24 * 1024;
/** Maximum concurrent handlers per user. A client rarely needs more, and more would delay other users. */
const handlersPerActor = 3;

/**
 * Assembles the server, opens its database and starts its jobs. On failure, closes everything that it opened.
 * @throws ConfigurationError or DatabaseUnusableError, whose message tells the admin what to do.
 */
export function createServer(
  configuration: ServerConfiguration,
  overrides: ServerOverrides = {},
): Promise<Server> {
  return openInOrder((closers) => assemble(configuration, overrides, closers));
}

async function assemble(
  configuration: ServerConfiguration,
  overrides: ServerOverrides,
  closers: Closers,
): Promise<Omit<Server, 'close'>> {
  const { log = createLogger('waxwing-server', configuration.logLevel), clock = systemClock } = overrides;
  const { random = Math.random, timings = {}, pageFolder } = overrides;
  // Checks the relay key before opening the database, so that a wrong setting is reported first.
  await readRelayKey(configuration.relay, adminNames);
  const metrics = new Metrics();
  const database = await openDatabase(configuration, { log, clock, metrics }, closers);
  await expectRestoredDatabase(database, clock);
  const { queueListeners, linkifiers } = await listenToProcesses(database, clock, closers);
  const realm = await readRealm(database, configuration.realm, clock());
  const uploads = await openUploads(database, configuration.uploads);
  const publish = createPublisher(queueListeners, clock);
  const foundation = { clock, random, log, metrics, database, queueListeners, realm, publish, uploads };
  const mounting = { configuration, timings };
  const { serverPush, relayAccount, sodium } = await mountServerPush(foundation, mounting, closers);
  const context: ServerContext = {
    ...foundation,
    serverPush,
    linkifiers,
    longPollTimeoutSeconds: timings.longPollTimeoutSeconds ?? defaultLongPollTimeoutSeconds,
    offersWebPublicChannels: configuration.offersWebPublicChannels,
    invitationValidityMinutes: configuration.invitationValidityMinutes,
    addressFailures: new AddressFailures(),
    hashQueue: createHashQueue(),
    registerQueue: createRegisterQueue(),
    userLists: new UserListCache(),
    startedAt: clock(),
  };
  const readiness = createReadiness(configuration, foundation);
  const parts = { server: context, settings: configuration, sodium, readiness, pageFolder };
  const dashboard = await openDashboard(configuration.dashboard, parts, closers);
  const app = await openDoors(context, { configuration, readiness, metrics, dashboard }, closers);
  await startJobs(context, metrics);
  const reloadCredentials = () => relayAccount.read();
  const forOperators = { operations: dashboard.metrics, log };
  return { app, log, database, metrics, readiness, forOperators, realmUuid: realm.uuid, reloadCredentials };
}

async function openDatabase(
  { databaseUrl: url }: ServerConfiguration,
  { log, clock, metrics }: Pick<Foundation, 'log' | 'clock' | 'metrics'>,
  closers: Closers,
): Promise<ServerDatabase> {
  const jobLog = createJobLog(log, 'waxwing-server');
  const onDeadJobsRemoved = (count: number) => metrics.rowsRemoved.inc({ kind: 'dead-letter' }, count);
  const database = await openServerDatabase({ url, role: 'serving', clock, ...jobLog, onDeadJobsRemoved });
  closers.push(async () => {
    await database.close();
    jobLog.flush();
  });
  return database;
}

interface Doors {
  readonly configuration: ServerConfiguration;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly dashboard: DashboardPorts;
}

/** Creates the HTTP app. */
async function openDoors(
  context: ServerContext,
  { configuration, readiness, metrics, dashboard }: Doors,
  closers: Closers,
) {
  const { log, database } = context;
  const limits = { ...configuration.http, maximumHeadBytes };
  const http = { log, metrics, readiness, limits, handlersPerActor, settingsPrefix: 'SERVER_' };
  const operations = [...bindServerOperations(context), ...dashboard.main];
  const app = await createHttpApp({ ...http, operations });
  // Stops both in parallel. In sequence, a slow request would use up the time that jobs have to finish.
  closers.push(async () => {
    await Promise.all([app.close(), database.jobs.stop(jobsDeadlineMilliseconds)]);
  });
  return app;
}

function createReadiness(
  configuration: ServerConfiguration,
  { database, metrics, log }: Foundation,
): Readiness {
  const files = new StartFileWatch({ checks: watchedChecks(configuration, database), metrics });
  return new Readiness({ database: () => database.check(), files: () => files.look() }, log);
}

/**
 * Prepares for the case that the database was restored from a backup: lets `GET /events` end queues whose clients have
 * events that the database lost, and prevents new devices from getting the ids of lost devices.
 */
async function expectRestoredDatabase(database: ServerDatabase, clock: Clock): Promise<void> {
  await noteServerStart(database);
  await raiseClientDeviceIds(database, clock);
}

/** Registers all job handlers and schedules, then starts the job queue. */
async function startJobs(context: ServerContext, metrics: Metrics): Promise<void> {
  const { clock, database, log, publish, uploads } = context;
  handleMessageJobs(context);
  handleReadingJobs(context);
  markLeftChannelsReadJob(context);
  scheduleServerJobs({ database, clock, log, metrics, publish, uploads });
  metrics.watchJobs(() => database.jobs.tally());
  metrics.watchDatabaseLog(() => database.logBytes());
  metrics.setVersion(packageVersion(new URL('../package.json', import.meta.url)));
  await database.jobs.start();
}

/** Subscribes to signals from other processes on the same database. */
async function listenToProcesses({ signals }: ServerDatabase, clock: Clock, closers: Closers) {
  const queueListeners = await QueueListeners.open(signals);
  closers.push(async () => queueListeners.close());
  const linkifiers = await KnownLinkifiers.open(signals, clock);
  closers.push(async () => linkifiers.close());
  return { queueListeners, linkifiers };
}

interface Foundation
  extends Pick<
    ServerContext,
    'clock' | 'log' | 'database' | 'queueListeners' | 'realm' | 'publish' | 'uploads'
  > {
  readonly random: () => number;
  readonly metrics: Metrics;
}

interface Mounting {
  readonly configuration: ServerConfiguration;
  readonly timings: ServerTimings;
}

async function mountServerPush(
  foundation: Foundation,
  { configuration, timings: { relayTimeoutMilliseconds } }: Mounting,
  closers: Closers,
): Promise<{
  readonly serverPush: ServerPush;
  readonly relayAccount: RelayAccountWatch;
  readonly sodium: Sodium;
}> {
  const { database, log, publish } = foundation;
  const { sodium, nativeUnavailableReason } = await loadFastestSodium();
  if (nativeUnavailableReason !== undefined) log.warn(nativeUnavailableReason);
  const serverPush = await createServerPush({
    ...foundation,
    authenticate: async (head) => {
      const user = await authenticateUser(database, head);
      return {
        userId: user.id,
        isBot: user.isBot,
        session: user.apiKeyHash,
        lockUser: async (transaction) => void (await lockRequester(transaction, user)),
      };
    },
    publishPushStatus: (transaction, change) => publish(transaction, pushStatusEvents(change)),
    isWanted: (userId, messageId) => isStillNotified(database.db, userId, messageId as MessageId),
    relay: { kind: 'not-configured' },
    registrationsPerHour: configuration.registrationsPerHour,
    sodium,
    ...(relayTimeoutMilliseconds === undefined ? {} : { relayTimeoutMilliseconds }),
  });
  closers.push(() => serverPush.close());
  const relayAccount = await RelayAccountWatch.open({
    settings: configuration,
    names: adminNames,
    database,
    log,
    serverPush,
  });
  closers.push(async () => relayAccount.close());
  return { serverPush, relayAccount, sodium };
}
