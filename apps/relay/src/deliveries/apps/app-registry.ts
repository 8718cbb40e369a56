import type { ApnsEnvironment } from '@waxwing/protocol';
import { ConfigurationError, readAuthorities } from '@waxwing/service/config';
import type { Clock } from '@waxwing/service/lifecycle';
import { type Log, TroubleLog } from '@waxwing/service/logging';
import { authoritiesSetting, type OutgoingAuthorities } from '../../network/outgoing-authorities.js';
import type { DeliveriesConfiguration } from '../deliveries-configuration.js';
import type { Delivery, Vendor } from '../delivery.js';
import type { DeliveryTimings } from '../delivery-timings.js';
import { type ApnsApp, findApnsApp } from '../vendors/apns/app.js';
import { ApnsSender } from '../vendors/apns/sender.js';
import { ProviderToken, type ProviderTokenStore } from '../vendors/apns/token.js';
import { chooseApp } from '../vendors/choose-app.js';
import type { FcmApp } from '../vendors/fcm/app.js';
import { FcmSender } from '../vendors/fcm/sender.js';
import { HttpProxy } from '../vendors/http-proxy.js';
import { TracedSender } from '../vendors/traced-sender.js';
import { type PushServiceCounts, pushServiceStates, type VendorSender } from '../vendors/vendor-sender.js';
import type { WebPushApp } from '../vendors/webpush/app.js';
import { WebPushSender } from '../vendors/webpush/sender.js';
import type { VapidSigner } from '../vendors/webpush/token.js';
import { type App, describeCredential, identify } from './credential-names.js';
import type { AppSet } from './read-apps-file.js';
import { readConfiguredApps } from './read-configured-apps.js';

/** The route for one app's notifications: the vendor, the credential and its sender. */
export interface AppRoute {
  /**
   * `fcm:<project>`, `webpush:<name>` or `apns:<bundle id>:<environment>`. Identifies the app in breakers and metrics.
   * A bundle id that the apps file does not list becomes `*`, so that phones cannot create new ids.
   */
  readonly appId: string;
  readonly vendor: Vendor;
  /** Human-readable name of the credential and its file. */
  readonly credential: string;
  readonly sender: VendorSender;
}

/** Credential and sender of an app, shared by all its routes. Cached because every notification needs them. */
interface Served {
  /** Lookup key of the sender, derived from the app's credential and settings; see {@link identify}. */
  readonly identity: string;
  readonly credential: string;
  readonly sender: VendorSender;
}

export interface ServedApp {
  readonly app: App;
  readonly sender: VendorSender;
}

export interface AppRegistryOptions {
  readonly configuration: DeliveriesConfiguration;
  readonly clock: Clock;
  readonly log: Log;
  readonly timings: DeliveryTimings;
  readonly providerTokens: ProviderTokenStore;
  readonly authorities: Pick<OutgoingAuthorities, 'trusted'>;
  readonly vapidKeys: VapidSigner & {
    /** Creates a key pair for each named app that has none. @returns the names of the apps with a new key pair. */
    ensure(names: readonly string[], now: number): Promise<readonly string[]>;
  };
}

const apnsEnvironments = ['production', 'sandbox'] as const;
const closeDeadlineMilliseconds = 10_000;
/** Name of the setting for APNs certificate authorities, as error messages show it. */
export const apnsAuthoritiesSetting = 'RELAY_APNS_CA_FILE';

/** The apps that the relay serves, with their credentials and connections. */
export class AppRegistry {
  readonly #options: AppRegistryOptions;
  readonly #proxy: HttpProxy | undefined;
  readonly #reloadLog = new TroubleLog();
  #apnsCa: string | undefined;
  #apps: AppSet;
  #served: ReadonlyMap<App, Served>;

  private constructor(options: AppRegistryOptions, apnsCa: string | undefined, apps: AppSet) {
    this.#options = options;
    const { proxyUrl } = options.configuration;
    this.#proxy = proxyUrl && new HttpProxy(proxyUrl, options.authorities);
    this.#apnsCa = apnsCa;
    this.#apps = apps;
    this.#served = this.#serve(apps, new Map());
  }

  /** @throws ConfigurationError that lists every problem in the apps file and in the files that it names. */
  static async open(options: AppRegistryOptions): Promise<AppRegistry> {
    const apnsCa = await readApnsCa(options.configuration);
    return new AppRegistry(options, apnsCa, await readApps(options));
  }

  get isConfigured(): boolean {
    return this.#options.configuration.apps.kind === 'configured';
  }

  /** Finds the route for a delivery; `undefined` if no app in the apps file serves the device. */
  find({ notification, device: { target } }: Delivery, environment: ApnsEnvironment): AppRoute | undefined {
    if (target.tokenKind === 'apns') return this.findApns(target.iosAppId, environment);
    const { serverId, realmUuid } = notification;
    return target.tokenKind === 'fcm'
      ? this.findFcm(serverId, realmUuid)
      : this.findWebPush(serverId, realmUuid);
  }

  /** Finds the route to a realm's Android apps. */
  findFcm(serverId: string, realmUuid: string): AppRoute | undefined {
    const app = chooseApp(this.#apps.fcm, serverId, realmUuid);
    return app && this.#routeOf(app, `fcm:${app.projectId}`);
  }

  /** Finds the route to the push services of a realm's phones. */
  findWebPush(serverId: string, realmUuid: string): AppRoute | undefined {
    const app = chooseApp(this.#apps.webpush, serverId, realmUuid);
    return app && this.#routeOf(app, `webpush:${app.name}`);
  }

  /** Finds the route to an Apple app by its bundle id. */
  findApns(iosAppId: string, environment: ApnsEnvironment): AppRoute | undefined {
    const app = findApnsApp(this.#apps, iosAppId);
    return app && this.#routeOf(app, `apns:${app.topics === '*' ? '*' : iosAppId}:${environment}`);
  }

  /** Returns the public VAPID key of a Web Push app in base64url; `undefined` if the key ring has no key for it. */
  vapidKeyOf(name: string): string | undefined {
    return this.#options.vapidKeys.publicKeyOf(name);
  }

  /** All entries in the apps file, with their senders. */
  get entries(): readonly ServedApp[] {
    return [...this.#served].map(([app, { sender }]) => ({ app, sender }));
  }

  /** The routes of all entries. An entry for Apple has two routes per bundle id, one for each environment. */
  get routes(): readonly AppRoute[] {
    return [...this.#served.keys()].flatMap((app) => {
      if (app.vendor === 'fcm') return [this.#routeOf(app, `fcm:${app.projectId}`)];
      if (app.vendor === 'webpush') return [this.#routeOf(app, `webpush:${app.name}`)];
      const topics = app.topics === '*' ? ['*'] : [...app.topics];
      return topics.flatMap((topic) =>
        apnsEnvironments.map((environment) => this.#routeOf(app, `apns:${topic}:${environment}`)),
      );
    });
  }

  /** Number of push services (Web Push) in each state, as far as this process knows. */
  get pushServices(): PushServiceCounts {
    const states = [...this.#senders().values()].flatMap(({ hostStates }) => hostStates);
    const counts = pushServiceStates.map((state) => [state, states.filter((each) => each === state).length]);
    return Object.fromEntries(counts) as PushServiceCounts;
  }

  /** The credential of each entry, named as in {@link AppRoute}. */
  get credentials(): readonly string[] {
    return [...this.#served.values()].map(({ credential }) => credential);
  }

  /**
   * Reloads the apps file and the certificate authorities, so that a fixed credential works without a restart.
   * Unchanged credentials keep their connections. If the file is invalid, logs the problem once and keeps using the
   * previous content.
   */
  async reload(): Promise<void> {
    const { log } = this.#options;
    try {
      await this.load();
      this.#reloadLog.end(() => log.info('the apps file can be used again'));
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      const { problems } = error;
      this.#reloadLog.begin(problems.join(), () =>
        log.error({ problems }, 'the apps file cannot be used: the previous one stays in use'),
      );
    }
  }

  /**
   * Reloads like {@link reload}, but throws instead of logging the problem.
   * @throws ConfigurationError if a file is invalid. The previous content stays in use.
   */
  async load(): Promise<void> {
    const { apps } = this.#options.configuration;
    if (apps.kind === 'not-configured') return;
    const apnsCa = await readApnsCa(this.#options.configuration);
    this.#apps = await readApps(this.#options);
    this.#apnsCa = apnsCa;
    const former = this.#senders();
    this.#served = this.#serve(this.#apps, former);
    const current = this.#senders();
    for (const [identity, sender] of former) {
      if (!current.has(identity)) void sender.close(closeDeadlineMilliseconds);
    }
  }

  async close(deadlineMilliseconds: number): Promise<void> {
    const senders = [...this.#senders().values()];
    await Promise.all(senders.map((sender) => sender.close(deadlineMilliseconds)));
  }

  #routeOf(app: App, appId: string): AppRoute {
    const served = this.#served.get(app);
    if (served === undefined) throw new Error(`the app ${appId} was loaded without a sender`);
    const { credential, sender } = served;
    return { appId, vendor: app.vendor, credential, sender };
  }

  #senders(): Map<string, VendorSender> {
    return new Map([...this.#served.values()].map(({ identity, sender }) => [identity, sender]));
  }

  /** Assigns a sender to each app. Apps with the same credential and settings share one. Reuses existing senders. */
  #serve({ fcm, apns, webpush }: AppSet, former: ReadonlyMap<string, VendorSender>): Map<App, Served> {
    const senders = new Map(former);
    const served = new Map<App, Served>();
    for (const app of [...fcm, ...apns, ...webpush]) {
      const identity = identify(app, this.#caOf(app.vendor));
      const sender = senders.get(identity) ?? new TracedSender(app.vendor, this.#senderOf(app));
      senders.set(identity, sender);
      served.set(app, { identity, credential: describeCredential(app), sender });
    }
    return served;
  }

  /** Certificate authorities for a vendor, in PEM; `undefined` means the system's authorities. */
  #caOf(vendor: Vendor): string | string[] | undefined {
    return (vendor === 'apns' ? this.#apnsCa : undefined) ?? this.#options.authorities.trusted;
  }

  #senderOf(app: App): VendorSender {
    if (app.vendor === 'webpush') return this.#webPushSender(app);
    return app.vendor === 'fcm' ? this.#fcmSender(app) : this.#apnsSender(app);
  }

  #webPushSender(app: WebPushApp): WebPushSender {
    const { configuration, clock, timings, vapidKeys } = this.#options;
    return new WebPushSender({
      app,
      signer: vapidKeys,
      privateHosts: configuration.webPushPrivateHosts,
      ca: this.#caOf('webpush'),
      proxy: this.#proxy,
      clock,
      timeoutMilliseconds: timings.webPushTimeoutMilliseconds,
    });
  }

  #fcmSender(app: FcmApp): FcmSender {
    const { configuration, clock, timings, log } = this.#options;
    return new FcmSender({
      app,
      log,
      baseUrl: configuration.fcmBaseUrl,
      ca: this.#caOf('fcm'),
      proxy: this.#proxy,
      clock,
      timeoutMilliseconds: timings.fcmTimeoutMilliseconds,
    });
  }

  #apnsSender(app: ApnsApp): ApnsSender {
    const { configuration, clock, timings, providerTokens, log } = this.#options;
    return new ApnsSender({
      app,
      log,
      providerToken: new ProviderToken({ app, clock, store: providerTokens }),
      urls: configuration.apnsUrls,
      ca: this.#caOf('apns'),
      authoritiesSetting: this.#apnsCa === undefined ? authoritiesSetting : apnsAuthoritiesSetting,
      proxy: this.#proxy,
      clock,
      timings: timings.apns,
      maximumWaiting: configuration.maximumInFlight * 2,
    });
  }
}

async function readApnsCa({ apnsCaFile }: DeliveriesConfiguration): Promise<string | undefined> {
  return apnsCaFile === undefined ? undefined : await readAuthorities(apnsCaFile, apnsAuthoritiesSetting);
}

/** Reads the apps, and creates a VAPID key pair for each Web Push app that has none. */
async function readApps({ configuration, vapidKeys, clock, log }: AppRegistryOptions): Promise<AppSet> {
  const apps = await readConfiguredApps(configuration);
  const names = apps.webpush.map(({ name }) => name);
  const made = await vapidKeys.ensure(names, clock());
  // Logged as a warning: if an older key ring was restored, phones that subscribed with a lost key must subscribe
  // again.
  if (made.length > 0) log.warn({ apps: made }, 'created VAPID keys for Web Push apps: see "apps vapid"');
  return apps;
}
