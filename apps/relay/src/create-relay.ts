import { packageVersion } from '@waxwing/service/command-line';
import type { DashboardPorts } from '@waxwing/service/dashboard';
import { createHttpApp, type HttpService, type Readiness } from '@waxwing/service/http';
import {
  type Clock,
  type Closers,
  openInOrder,
  type RunningService,
  systemClock,
} from '@waxwing/service/lifecycle';
import { createJobLog, createLogger, type Log } from '@waxwing/service/logging';
import { Metrics } from '@waxwing/service/metrics';
import { openAdminSocket } from './admin-socket/open-admin-socket.js';
import type { RelayConfiguration } from './configuration.js';
import type { RelayContext } from './context.js';
import { openMinuteCounts } from './dashboard/minutes/minute-counts.js';
import { openDashboard } from './dashboard/open-dashboard.js';
import { createDeliveries } from './deliveries/create-deliveries.js';
import { type DeliveryTimings, productionTimings } from './deliveries/delivery-timings.js';
import { openKeyRing } from './keyring/open-key-ring.js';
import { watchKeys } from './keyring/watch-keys.js';
import { OutgoingAuthorities } from './network/outgoing-authorities.js';
import { openRelayDatabase } from './open-database.js';
import { bindRelayAdminOperations, bindRelayOperations } from './operations.js';
import { PlaintextDevices } from './plaintext/plaintext-devices.js';
import { createReadiness } from './readiness/create-readiness.js';
import { RecentDeliveries } from './readiness/recent-deliveries.js';
import { openRegistrationWriter } from './registration-thread/open-registration-writer.js';
import { loadSodium } from './registrations/opening/load-sodium.js';
import { RegistrationBatches } from './registrations/opening/registration-batches.js';
import { revocationsPerMinuteAndAddress } from './registrations/operations/revoke-registrations.js';
import { raiseDeviceIds } from './registrations/store/raise-device-ids.js';
import { Revocations } from './registrations/store/revocations.js';
import { SameTokenDevices } from './registrations/store/same-token-devices.js';
import { UnreadableTokens } from './registrations/store/unreadable-tokens.js';
import { DurableRegistrations } from './registrations/write/durable-registrations.js';
import { scheduleRelayJobs } from './scheduled-jobs.js';
import { DeviceGauge } from './servers/device-counts.js';
import { type HostNetwork, systemHostNetwork } from './servers/joining/ask-host.js';
import { createJoining } from './servers/joining/joining.js';
import { openSharedQuotas } from './servers/quota-exchange.js';
import { ServerActivity } from './servers/server-activity.js';
import { ServerDirectory } from './servers/server-directory.js';
import { ServerQuotas } from './servers/server-quotas.js';
import { ReportedCounts } from './servers/stock/reported-counts.js';
import { watchBusiestServers } from './servers/watch-busiest-servers.js';
import type { RelayDatabase } from './tables.js';

/** Dependencies that tests replace. Each has a production default. */
export interface RelayOverrides {
  /** Default: standard output at the configured level. */
  readonly log?: Log;
  readonly clock?: Clock;
  /** Monotonic clock, in milliseconds. The key ring compares it with `clock` to detect changes to the system time. */
  readonly monotonic?: Clock;
  /** Returns a number in [0, 1). */
  readonly random?: () => number;
  readonly timings?: DeliveryTimings;
  /** Network access to the hosts of joining servers. */
  readonly hostNetwork?: HostNetwork;
  /** Module of the registration worker thread. Tests set it, because they run from source, without the built module. */
  readonly registrationThread?: URL;
  /** Folder of the dashboard's built page. */
  readonly pageFolder?: string;
}

/** A relay that is ready for requests and runs its jobs, but does not listen yet. */
export interface Relay extends HttpService {
  /** Dependencies of the relay's operations. */
  readonly context: RelayContext;
  /**
   * Reloads the vendors' credentials and the trusted certificate authorities.
   * @throws ConfigurationError if they are invalid; the previous credentials and authorities stay in use.
   */
  reloadCredentials(): Promise<void>;
}

const jobsDeadlineMilliseconds = 5000;
const requestsDeadlineMilliseconds = 3000;
const deliveriesDeadlineMilliseconds = 2000;
const quotasDeadlineMilliseconds = 1000;
const activityDeadlineMilliseconds = 1000;

/**
 * Creates a relay: opens the database and the key ring, and starts the jobs.
 * @throws ConfigurationError or DatabaseUnusableError with messages for the operator, after closing everything that it
 * opened.
 */
export function createRelay(
  configuration: RelayConfiguration,
  overrides: RelayOverrides = {},
): Promise<Relay> {
  return openInOrder((closers) => assemble(configuration, overrides, closers));
}

async function assemble(
  configuration: RelayConfiguration,
  overrides: RelayOverrides,
  closers: Closers,
): Promise<Omit<Relay, 'close'>> {
  const machine = await openMachine(configuration, overrides, closers);
  const keys = await openKeys(configuration, machine, closers);
  const context = await openContext(configuration, { ...machine, ...keys }, closers);
  const watched = { ...machine, ...keys, ...context, keyRing: keys.keyRing };
  const { readiness, load } = createReadiness(configuration, watched);
  const { admin } = keys;
  const parts = { ...keys, relay: context, configuration, readiness, load, pageFolder: overrides.pageFolder };
  const dashboard = await openDashboard(configuration.dashboard, parts, closers);
  const app = await openDoors(context, { configuration, readiness, admin, dashboard }, closers);
  await startJobs(context, keys, closers);
  const reloadCredentials = async () => {
    await machine.authorities.load();
    await context.deliveries.reloadCredentials();
  };
  const { metrics } = machine;
  const forOperators = { operations: dashboard.metrics, log: machine.log };
  return { app, context, metrics, readiness, forOperators, reloadCredentials };
}

/** Opens the parts that all others depend on: log, clocks, encryption and the database. */
async function openMachine(configuration: RelayConfiguration, overrides: RelayOverrides, closers: Closers) {
  const { log = createLogger('waxwing-relay', configuration.logLevel), clock = systemClock } = overrides;
  const { monotonic = () => performance.now(), random = Math.random } = overrides;
  const authorities = await OutgoingAuthorities.open(configuration.caFile);
  const { hostNetwork = systemHostNetwork(authorities) } = overrides;
  const { timings = productionTimings, registrationThread } = overrides;
  const metrics = new Metrics();
  const sodium = await loadSodium(log);
  const database = await openDatabase(configuration, { log, clock, metrics }, closers);
  const given = { log, clock, monotonic, random, timings, registrationThread, hostNetwork, authorities };
  return { ...given, metrics, sodium, database };
}

type Machine = Awaited<ReturnType<typeof openMachine>>;

/** Opens the key ring, and reports the stored tokens that its keys cannot decrypt. */
async function openKeys(configuration: RelayConfiguration, machine: Machine, closers: Closers) {
  const { sodium, clock, monotonic, log, database, metrics } = machine;
  const ring = await openKeyRing(configuration.keyRing, { sodium, clock, monotonic, log, database });
  closers.push(() => ring.close());
  const { keyRing, admin } = ring;
  const { tokenVault } = keyRing;
  const unreadableTokens = new UnreadableTokens({ database, tokenVault, metrics, log });
  await unreadableTokens.describe();
  return { keyRing, admin, tokenVault, unreadableTokens };
}

type Keys = Awaited<ReturnType<typeof openKeys>>;

/** Starts the counters that operators see: server activity, deliveries per minute and devices. */
async function openCounts(opened: Machine, hasDashboard: boolean, closers: Closers) {
  const activity = new ServerActivity(opened);
  await activity.start();
  closers.push(() => activity.stop(activityDeadlineMilliseconds));
  const minuteCounts = openMinuteCounts({ ...opened, isOn: hasDashboard }, closers);
  const recentDeliveries = new RecentDeliveries(opened.clock, minuteCounts);
  return { activity, minuteCounts, recentDeliveries, deviceGauge: new DeviceGauge(opened) };
}

/** Creates the dependencies of the relay's operations. */
async function openContext(
  {
    deliveries: configuration,
    databaseUrl,
    joining: joiningConfiguration,
    takesPlaintextDevices: isOn,
    dashboard,
  }: RelayConfiguration,
  opened: Machine & Keys,
  closers: Closers,
): Promise<RelayContext> {
  const { clock, random, log, metrics, sodium, database, tokenVault, keyRing, authorities } = opened;
  const counts = await openCounts(opened, dashboard.kind === 'on', closers);
  const servers = new ServerDirectory(database.db, clock, counts.activity);
  const foundation = { clock, random, log, metrics, sodium, database, tokenVault, servers, ...counts };
  const { unreadableTokens, timings, monotonic, hostNetwork, registrationThread: threadModule } = opened;
  const { vapidKeys } = keyRing;
  const sending = { configuration, unreadableTokens, timings, authorities, vapidKeys };
  const deliveries = await createDeliveries({ ...foundation, ...sending });
  closers.push(() => deliveries.close(deliveriesDeadlineMilliseconds));
  const { quotas, exchange } = await openSharedQuotas({
    ...foundation,
    notificationsPerMinute: configuration.notificationsPerMinute,
    intervalMilliseconds: timings.quotaExchangeMilliseconds,
  });
  closers.push(() => exchange.stop(quotasDeadlineMilliseconds));
  watchBusiestServers(metrics, quotas);
  const writer = openRegistrationWriter({ ...foundation, databaseUrl, threadModule }, closers);
  const store = new DurableRegistrations({ ...foundation, writer });
  const sameToken = new SameTokenDevices(foundation);
  const revocations = new Revocations(foundation);
  const registrationParts = { store, sameToken, revocations };
  const registrations = new RegistrationBatches({ ...foundation, ...registrationParts, keyRing, monotonic });
  const revocationQuotas = new ServerQuotas(revocationsPerMinuteAndAddress, clock, 'revocations-per-address');
  const reportedCounts = new ReportedCounts();
  const joining = createJoining(joiningConfiguration, { ...foundation, hostNetwork });
  const context = { ...foundation, keyRing, deliveries, quotas, registrations, reportedCounts, joining };
  const plaintextDevices = new PlaintextDevices({ ...foundation, isOn });
  return { ...context, revocations, revocationQuotas, plaintextDevices };
}

/** Creates the HTTP app and, unless another relay already serves it, the admin socket. */
async function openDoors(
  context: RelayContext,
  { configuration, readiness, admin, dashboard }: DoorOptions,
  closers: Closers,
): Promise<Relay['app']> {
  const { log, metrics } = context;
  const app = await createApp(context, { configuration, readiness, dashboard });
  const doors: RunningService[] = [app];
  closers.push(() => stop(context, doors));
  const adminSocket = await openAdminSocket(configuration.keyRing.adminSocket, {
    log,
    metrics,
    readiness,
    operations: bindRelayAdminOperations(admin),
  });
  if (adminSocket !== undefined) doors.push(adminSocket);
  return app;
}

interface DoorOptions {
  readonly configuration: RelayConfiguration;
  readonly readiness: Readiness;
  readonly admin: Keys['admin'];
  readonly dashboard: DashboardPorts;
}

async function startJobs(
  context: RelayContext,
  { keyRing, unreadableTokens }: Keys,
  closers: Closers,
): Promise<void> {
  const { database, metrics, deliveries, deviceGauge } = context;
  scheduleRelayJobs({ ...context, keyRing, unreadableTokens, receipts: deliveries.receipts });
  metrics.watchJobs(() => database.jobs.tally());
  metrics.watchDatabaseLog(() => database.logBytes());
  metrics.setVersion(packageVersion(new URL('../package.json', import.meta.url)));
  watchKeys(metrics, keyRing);
  deviceGauge.start();
  closers.push(() => deviceGauge.stop());
  await database.jobs.start();
}

async function openDatabase(
  { databaseUrl: url }: RelayConfiguration,
  { log, clock, metrics }: Pick<RelayContext, 'log' | 'clock' | 'metrics'>,
  closers: Closers,
): Promise<RelayDatabase> {
  const onDeadJobsRemoved = (count: number) => metrics.rowsRemoved.inc({ kind: 'dead-letter' }, count);
  const jobLog = createJobLog(log, 'waxwing-relay');
  const options = { url, clock, ...jobLog, onDeadJobsRemoved };
  const database = await openRelayDatabase({ ...options, role: 'serving' });
  closers.push(async () => {
    await database.close();
    jobLog.flush();
  });
  await raiseDeviceIds(database, clock);
  return database;
}

function createApp(
  context: RelayContext,
  { configuration, readiness, dashboard }: Omit<DoorOptions, 'admin'>,
): Promise<Relay['app']> {
  const { log, metrics } = context;
  return createHttpApp({
    log,
    metrics,
    operations: [...bindRelayOperations(context), ...dashboard.main],
    readiness,
    limits: configuration.http,
    settingsPrefix: 'RELAY_',
    // Servers treat a 429 as final, and retry after a 503.
    actorRefusalStatus: 503,
  });
}

/**
 * Shuts down listeners and jobs gracefully, in parallel: a slow request must not use up the jobs' deadline. Jobs that
 * miss their deadline return to the queue.
 */
async function stop({ deliveries, database }: RelayContext, doors: readonly RunningService[]): Promise<void> {
  const patience = setTimeout(() => deliveries.waitNoLonger(), requestsDeadlineMilliseconds);
  await Promise.all([...doors.map((door) => door.close()), database.jobs.stop(jobsDeadlineMilliseconds)]);
  clearTimeout(patience);
}
