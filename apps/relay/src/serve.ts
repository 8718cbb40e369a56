import type { AddressInfo } from 'node:net';
import {
  type Clock,
  createHttpApp,
  createJobLog,
  type Log,
  Metrics,
  type MetricsListener,
  Readiness,
  type RunningService,
  startMetricsListener,
  systemClock,
} from '@waxwing/service';
import type { Sodium } from '@waxwing/sodium';
import { loadFastestSodium } from '@waxwing/sodium/native';
import type { RelayConfiguration } from './configuration.js';
import type { RelayContext } from './context.js';
import { createDeliveries } from './deliveries/create-deliveries.js';
import { type DeliveryTimings, productionTimings } from './deliveries/delivery-timings.js';
import { keysReadiness } from './keyring/keys-readiness.js';
import { type DatabaseWithKeyRing, type OpenKeyRing, openKeyRing } from './keyring/open-key-ring.js';
import { openRelayDatabase } from './open-relay-database.js';
import { bindRelayOperations } from './operations.js';
import { DurableRegistrations } from './registrations/durable-registrations.js';
import { reencryptTokens } from './registrations/reencrypt-tokens.js';
import { RegistrationBatches } from './registrations/registration-batches.js';
import { UnreadableTokens } from './registrations/unreadable-tokens.js';
import type { RelayDatabase } from './relay-tables.js';
import { scheduleRemovalOfOldRows } from './remove-old-rows.js';
import { ServerDirectory } from './servers/server-directory.js';

export interface StartRelayOptions {
  readonly log: Log;
  readonly clock?: Clock;
  /** Milliseconds of a clock that is never set, by which the key ring notices that the other one was. */
  readonly monotonic?: Clock;
  /** A number from 0 up to, not including, 1. */
  readonly random?: () => number;
  /** Production's where nothing is said; tests shorten the policy's delays. */
  readonly deliveryTimings?: DeliveryTimings;
}

export interface RunningRelay extends RunningService {
  readonly url: string;
  /** `undefined` where no metrics port is configured. */
  readonly metricsUrl: string | undefined;
}

const jobsDeadlineMilliseconds = 5000;
const requestsDeadlineMilliseconds = 3000;
const tokenSweepMilliseconds = 60_000;
const deliveriesDeadlineMilliseconds = 2000;

/**
 * Runs the relay: opens database and key ring, listens, and works the jobs that are due.
 * @throws ConfigurationError or DatabaseUnusableError with sentences for the operator, or the listener's error, such
 * as EADDRINUSE; nothing is left open then.
 */
export async function startRelay(
  configuration: RelayConfiguration,
  {
    log,
    clock = systemClock,
    monotonic = () => performance.now(),
    random = Math.random,
    deliveryTimings: timings = productionTimings,
  }: StartRelayOptions,
): Promise<RunningRelay> {
  // Closed in the opposite order, whether the relay has run or could not start.
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closeOne of closers.splice(0).reverse()) await closeOne();
  };
  try {
    const metrics = new Metrics();
    metrics.collectProcessMetrics();
    const sodium = await loadSodium(log);
    const database = await openDatabase(configuration, { log, clock, metrics });
    closers.push(() => database.close());
    const ring = await openKeyRing(configuration.keyRing, {
      ...{ sodium, clock, monotonic, log, random },
      // Kysely's types do not let a database with more tables pass as one with fewer.
      database: database as unknown as DatabaseWithKeyRing,
    });
    closers.push(() => ring.close());
    const foundation = { clock, random, log, metrics, sodium, database };
    const { deliveries: deliveriesConfiguration } = configuration;
    const { tokenVault } = ring.keyRing;
    const unreadableTokens = new UnreadableTokens({ ...foundation, tokenVault });
    await unreadableTokens.describe();
    const deliveries = await createDeliveries({
      ...foundation,
      ...{ configuration: deliveriesConfiguration, tokenVault, unreadableTokens, timings },
    });
    closers.push(() => deliveries.close(deliveriesDeadlineMilliseconds));
    const context = createContext({ ...foundation, deliveries }, ring);
    const checks = {
      database: () => database.check(),
      keys: keysReadiness(ring.keyRing, [() => unreadableTokens.describe()]),
      vendors: () => deliveries.readiness(),
    };
    const doors = { configuration, readiness: new Readiness(checks, log), closers };
    const url = await listen(context, doors);
    const listener = await listenForMetrics(context, doors);
    database.jobs.schedule('registrations/reencrypt-tokens', tokenSweepMilliseconds, (signal) =>
      reencryptTokens({
        ...{ database, keyRing: ring.keyRing, signal },
        onUnreadable: (deviceId, token) => unreadableTokens.note(deviceId, token),
      }),
    );
    scheduleRemovalOfOldRows({ ...foundation, keyRing: ring.keyRing });
    metrics.watchJobs(() => database.jobs.tally());
    await database.jobs.start();
    log.info({ url, metricsUrl: listener?.url }, 'ready');
    return { url, metricsUrl: listener?.url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function loadSodium(log: Log): Promise<Sodium> {
  const { sodium, nativeUnavailableReason } = await loadFastestSodium();
  if (nativeUnavailableReason !== undefined) log.warn(nativeUnavailableReason);
  log.info({ backend: sodium.backend }, 'encryption loaded');
  return sodium;
}

function openDatabase(
  { databaseUrl: url }: RelayConfiguration,
  { log, clock, metrics }: Pick<RelayContext, 'log' | 'clock' | 'metrics'>,
): Promise<RelayDatabase> {
  const onDeadJobsRemoved = (count: number) => metrics.rowsRemoved.inc({ kind: 'dead-letter' }, count);
  return openRelayDatabase({ url, role: 'serving', clock, ...createJobLog(log), onDeadJobsRemoved });
}

type Foundation = Omit<RelayContext, 'servers' | 'keyRing' | 'tokenVault' | 'registrations' | 'quotas'>;

function createContext(foundation: Foundation, { keyRing }: OpenKeyRing): RelayContext {
  const servers = new ServerDirectory(foundation.database.db, foundation.clock);
  const { tokenVault } = keyRing;
  const { quotas } = foundation.deliveries;
  const store = new DurableRegistrations({ ...foundation, keyRing, tokenVault });
  const registrations = new RegistrationBatches({ ...foundation, keyRing, store });
  return { ...foundation, servers, keyRing, tokenVault, quotas, registrations };
}

interface Doors {
  readonly configuration: RelayConfiguration;
  readonly readiness: Readiness;
  readonly closers: (() => Promise<void>)[];
}

async function listen(context: RelayContext, { configuration, readiness, closers }: Doors): Promise<string> {
  const { host, port, http: limits } = configuration;
  const { log, metrics, database, deliveries } = context;
  const app = await createHttpApp({
    log,
    metrics,
    operations: bindRelayOperations(context),
    readiness,
    limits,
    // Servers take a 429 for final, and try again after a 503.
    actorRefusalStatus: 503,
  });
  // Side by side: a request that takes its time must not use up that of the jobs, which are handed back in the end.
  closers.push(async () => {
    const patience = setTimeout(() => deliveries.waitNoLonger(), requestsDeadlineMilliseconds);
    await Promise.all([app.close(), database.jobs.stop(jobsDeadlineMilliseconds)]);
    clearTimeout(patience);
  });
  await app.listen({ host, port });
  const address = app.server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

async function listenForMetrics(
  { metrics }: RelayContext,
  { configuration, readiness, closers }: Doors,
): Promise<MetricsListener | undefined> {
  if (configuration.metrics.kind === 'not-configured') return undefined;
  const listener = await startMetricsListener(metrics, configuration.metrics.port, readiness);
  closers.push(() => listener.close());
  return listener;
}
