import type { RelayAppsAnswer } from '@waxwing/protocol';
import type { ReadinessWarning } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import { type Log, RejectionLog } from '@waxwing/service/logging';
import type { Metrics } from '@waxwing/service/metrics';
import type { OutgoingAuthorities } from '../network/outgoing-authorities.js';
import { rememberOpenedTokens } from '../registrations/store/opened-tokens.js';
import type { TokenVault } from '../registrations/store/token-vault.js';
import type { UnreadableTokens } from '../registrations/store/unreadable-tokens.js';
import type { Realm } from '../servers/find-realm.js';
import type { ServerActivity } from '../servers/server-activity.js';
import type { ServerDirectory } from '../servers/server-directory.js';
import type { RelayDatabase } from '../tables.js';
import { AppRegistry, type AppRegistryOptions } from './apps/app-registry.js';
import type { AppTrouble } from './apps/app-trouble.js';
import { type AppCheck, checkOneApp } from './apps/check-apps.js';
import { type AppState, describeApps } from './attempts/app-states.js';
import { DeliveryAttempts } from './attempts/attempt-delivery.js';
import { StoredOutages } from './attempts/stored-outages.js';
import { VendorOutages } from './attempts/vendor-outages.js';
import { vendorReadiness } from './attempts/vendor-readiness.js';
import { BreakerStore } from './breakers/breaker-store.js';
import { CredentialBreakers } from './breakers/credential-breakers.js';
import { DeletionBreakers } from './breakers/deletion-breakers.js';
import type { DeliveriesConfiguration } from './deliveries-configuration.js';
import { type DeliveryCounts, DeliveryMetrics } from './delivery-metrics.js';
import { type DeliveryTimings, productionTimings } from './delivery-timings.js';
import { DeliveryUpkeep } from './delivery-upkeep.js';
import { DeliveryQueue } from './queue/delivery-queue.js';
import { LoadLimit } from './queue/load-limit.js';
import { ReceiptStore } from './queue/receipt-store.js';
import { RecordOutcomes } from './queue/record-outcomes.js';
import { DeliverNotifications } from './requests/deliver-notifications.js';
import { DeliveryFailures } from './requests/delivery-failures.js';
import { findRealmApps } from './requests/realm-apps.js';
import { ProviderTokenStore } from './vendors/apns/token.js';
import type { PushServiceCounts } from './vendors/vendor-sender.js';

export interface DeliveriesOptions {
  readonly configuration: DeliveriesConfiguration;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly database: RelayDatabase;
  readonly tokenVault: TokenVault;
  readonly servers: Pick<ServerDirectory, 'isActive'>;
  readonly activity: Pick<ServerActivity, 'noteOutcome'>;
  readonly unreadableTokens: Pick<UnreadableTokens, 'note'>;
  readonly authorities: Pick<OutgoingAuthorities, 'trusted'>;
  readonly vapidKeys: AppRegistryOptions['vapidKeys'];
  /** Recent deliveries, counted for the dashboard and the readiness check. Default: not counted. */
  readonly recentDeliveries?: DeliveryCounts;
  /** Default: `productionTimings`. */
  readonly timings?: DeliveryTimings;
}

/** The delivery pipeline from notify requests to vendors. */
export interface Deliveries
  extends Pick<DeliverNotifications, 'deliver' | 'deliverRead' | 'requireRoom' | 'waitNoLonger'> {
  readonly receipts: ReceiptStore;
  /** Resolves to the apps of a realm's devices, and whether the relay can deliver to each app. */
  appsOf(realm: Realm & { readonly serverId: string }): Promise<RelayAppsAnswer>;
  /**
   * Describes refused credentials and failing vendors. Resolves to a warning if the relay can still deliver to at least
   * one app, to the reason why the relay is not ready if it cannot, and to `undefined` if nothing is wrong.
   */
  readiness(): Promise<string | ReadinessWarning | undefined>;
  /** The apps in the apps file, for operators. */
  describeApps(): AppState[];
  /** Number of push services (Web Push) in each state. */
  pushServices(): PushServiceCounts;
  /** Checks one app's credential with the vendor; see {@link checkOneApp}. */
  checkApp(appId: string): Promise<AppCheck | undefined>;
  /** Number of an app's dead tokens that are kept while its deletions are frozen, as far as this process knows. */
  frozenDeaths(appId: string): number;
  /**
   * Reloads the apps file and its keys. @throws ConfigurationError if it is invalid; the previous content stays in use.
   */
  reloadCredentials(): Promise<void>;
  /** Drains for at most `deadlineMilliseconds`, then closes all connections. Stop the job queue first. */
  close(deadlineMilliseconds: number): Promise<void>;
}

const probeMilliseconds = 60_000;

/**
 * Creates the delivery pipeline. Must be called before the job queue starts, because it registers the handler for
 * queued notifications.
 * @throws ConfigurationError that lists every problem in the apps file and in the files that it names.
 */
export async function createDeliveries(options: DeliveriesOptions): Promise<Deliveries> {
  const { configuration, clock, log, database, timings = productionTimings } = options;
  const tokenVault = rememberOpenedTokens(options.tokenVault);
  const metrics = new DeliveryMetrics(options.metrics, options.recentDeliveries);
  const foundation = { ...options, timings, tokenVault, metrics };
  const ways = await openWays(foundation);
  const { apps, credentials, deletions } = ways;
  const storedOutages = new StoredOutages({ store: ways.store, log });
  const onChange = (app: string, outage: AppTrouble | undefined): void => {
    metrics.setOutage(app, outage !== undefined);
    storedOutages.note(app, outage);
  };
  metrics.watchPushServices(() => apps.pushServices);
  const outages = new VendorOutages({ clock, log, onChange });
  const rejections = new RejectionLog(log, (fault) => fault === 'relay' || fault === 'relay-configuration');
  const { delayDivisor } = timings;
  const attempts = new DeliveryAttempts({ ...foundation, ...ways, outages, rejections, delayDivisor });
  const { maximumInFlight, maximumQueued } = configuration;
  const load = new LoadLimit({ maximumInFlight, maximumQueued, metrics });
  const receipts = new ReceiptStore(database);
  load.setQueued(await receipts.countQueued());
  const upkeep = new DeliveryUpkeep({ receipts, load, deletions, outages, storedOutages, log });
  upkeep.start(timings.queueCountMilliseconds);
  const onSettled = () => load.addQueued(-1);
  const queue = new DeliveryQueue({ ...foundation, receipts, attempts, onSettled });
  const records = new RecordOutcomes({ database, queue, load, clock });
  const failures = new DeliveryFailures(log);
  const delivering = new DeliverNotifications({ ...foundation, attempts, receipts, records, load, failures });
  if (!apps.isConfigured) log.error('RELAY_APPS_FILE is not set: every notification will be rejected');
  return {
    deliver: (requester, requests, server) => delivering.deliver(requester, requests, server),
    deliverRead: (serverId, notifications, server) => delivering.deliverRead(serverId, notifications, server),
    requireRoom: (serverId, notifications) => delivering.requireRoom(serverId, notifications),
    receipts,
    appsOf: (realm) => findRealmApps({ apps, credentials, outages, database }, realm),
    ...viewsForOperators({ ...ways, outages, configuration, clock }),
    reloadCredentials: () => apps.load(),
    waitNoLonger: () => delivering.waitNoLonger(),
    async close(deadlineMilliseconds) {
      upkeep.stop();
      rejections.flush();
      failures.flush();
      await storedOutages.idle();
      await apps.close(deadlineMilliseconds);
    },
  };
}

type OperatorViews = Pick<
  Deliveries,
  'readiness' | 'describeApps' | 'pushServices' | 'checkApp' | 'frozenDeaths'
>;

function viewsForOperators({
  apps,
  credentials,
  deletions,
  outages,
  ...options
}: Awaited<ReturnType<typeof openWays>> & { outages: VendorOutages } & Pick<
    DeliveriesOptions,
    'configuration' | 'clock'
  >): OperatorViews {
  return {
    readiness: async () => vendorReadiness({ apps, credentials, outages }),
    describeApps: () => describeApps({ apps, credentials, outages }),
    pushServices: () => apps.pushServices,
    checkApp: (appId) => checkOneApp({ apps, ...options }, appId),
    frozenDeaths: (appId) => deletions.frozenDeaths(appId),
  };
}

/** Opens the apps with their senders and circuit breakers. */
async function openWays({
  configuration,
  clock,
  log,
  database,
  tokenVault,
  timings,
  metrics,
  authorities,
  vapidKeys,
}: Omit<DeliveriesOptions, 'metrics'> & { timings: DeliveryTimings; metrics: DeliveryMetrics }) {
  const store = new BreakerStore(database);
  const providerTokens = new ProviderTokenStore(database, tokenVault);
  const foundation = { configuration, clock, log, timings };
  const apps = await AppRegistry.open({ ...foundation, providerTokens, authorities, vapidKeys });
  const credentials = new CredentialBreakers({
    clock,
    log,
    store,
    probeMilliseconds: probeMilliseconds / timings.delayDivisor,
    reload: () => apps.reload(),
    onChange: (appId, isOpen) => metrics.setBreaker(appId, 'credential', isOpen ? 1 : 0),
  });
  const deletions = new DeletionBreakers({
    clock,
    log,
    store,
    onChange: (appId, frozen) => metrics.setBreaker(appId, 'deletion', frozen),
  });
  await deletions.load();
  await store.forgetVendors();
  return { apps, credentials, deletions, store };
}
