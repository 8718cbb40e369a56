import { resolve } from 'node:path';
import { ApnsListener } from './apns/apns-listener.js';
import { ProviderTokens } from './apns/provider-tokens.js';
import { CredentialStore, type VendorCredentials } from './credentials/vendor-credentials.js';
import { DeliveryLog } from './deliveries/delivery-log.js';
import type { AppleSystem } from './faults/fault-rule.js';
import { Faults } from './faults/faults.js';
import { AccessTokens } from './fcm/access-tokens.js';
import { Installations } from './fcm/installations.js';
import { HttpListener } from './http-listener.js';
import { ConnectionCounts, RequestCounts } from './statistics.js';
import { PushListener } from './webpush/push-listener.js';
import { Subscriptions } from './webpush/subscriptions.js';

export interface VendorsOptions {
  /** Directory for the credentials. Created with mode 0700 if it is missing. */
  readonly dataDir: string;
  /** Bind address of all listeners. Default: 127.0.0.1. */
  readonly host?: string;
  /** Port of the HTTP listener. For this port and the next three, 0 (the default) picks any free port. */
  readonly httpPort?: number;
  readonly apnsProductionPort?: number;
  readonly apnsSandboxPort?: number;
  readonly webPushPort?: number;
  /** Returns the current time in Unix milliseconds. */
  readonly clock?: () => number;
  /** Returns a number in [0, 1). Used for faults with a `rate` if the fault script has no seed. */
  readonly random?: () => number;
  /** Logs the cause of each refusal in a sentence without tokens or bodies. Default: logs nothing. */
  readonly log?: (message: string) => void;
}

export interface Vendors {
  readonly urls: {
    /** Admin API: deliveries, faults and statistics. */
    readonly http: string;
    /** Replaces https://fcm.googleapis.com. */
    readonly fcm: string;
    /** Replaces https://api.push.apple.com. */
    readonly apnsProduction: string;
    /** Replaces https://api.sandbox.push.apple.com. */
    readonly apnsSandbox: string;
    /** URL of the push service. Any URL `<webPush>/push/<name>` is the endpoint of a subscription. */
    readonly webPush: string;
  };
  readonly credentials: {
    /** Path of a Google service account file, whose `token_uri` is the stand-in's token endpoint. */
    readonly serviceAccountFile: string;
    readonly fcmProjectId: string;
    /** Path of Apple's .p8 file. */
    readonly apnsKeyFile: string;
    readonly apnsKeyId: string;
    readonly apnsTeamId: string;
    /**
     * Path of the CA certificate (PEM) that a sender must trust to reach the stand-ins for APNs and the push service.
     */
    readonly caFile: string;
  };
  /** Stops listening and drops every connection. The data directory stays. */
  close(): Promise<void>;
}

interface Listeners {
  readonly http: HttpListener;
  readonly production: ApnsListener;
  readonly sandbox: ApnsListener;
  readonly webPush: PushListener;
}

/**
 * Starts the stand-ins for FCM, for both APNs environments and for a push service. The first start creates credentials
 * in the data directory; later starts reuse them. On failure, closes all listeners.
 * @throws the listener's error. If a port is in use, the error has the code EADDRINUSE.
 */
export async function startVendors(options: VendorsOptions): Promise<Vendors> {
  const { host = '127.0.0.1', httpPort = 0, apnsProductionPort = 0, apnsSandboxPort = 0 } = options;
  const { webPushPort = 0 } = options;
  const store = await CredentialStore.open(resolve(options.dataDir), host);
  const { fcm, apns } = store.credentials;
  let tokenUri = '';
  const { http, production, sandbox, webPush } = createListeners(store.credentials, options, () => tokenUri);
  const close = async () => {
    await Promise.all([http.close(), production.close(), sandbox.close(), webPush.close()]);
  };
  try {
    const httpUrl = formatUrl('http', host, await http.listen(host, httpPort));
    const productionUrl = formatUrl('https', host, await production.listen(host, apnsProductionPort));
    const sandboxUrl = formatUrl('https', host, await sandbox.listen(host, apnsSandboxPort));
    const webPushUrl = formatUrl('https', host, await webPush.listen(host, webPushPort));
    tokenUri = `${httpUrl}/token`;
    const files = await store.writeOperatorFiles(tokenUri);
    return {
      urls: {
        http: httpUrl,
        fcm: httpUrl,
        apnsProduction: productionUrl,
        apnsSandbox: sandboxUrl,
        webPush: webPushUrl,
      },
      credentials: { ...files, fcmProjectId: fcm.projectId, apnsKeyId: apns.keyId, apnsTeamId: apns.teamId },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function createListeners(
  credentials: VendorCredentials,
  { host = '127.0.0.1', clock = () => Date.now(), random = Math.random, log = () => {} }: VendorsOptions,
  tokenUri: () => string,
): Listeners {
  const { fcm, apns, tls } = credentials;
  const faults = new Faults(random);
  const deliveries = new DeliveryLog();
  const accessTokens = new AccessTokens(clock);
  const installations = new Installations();
  const mintIntervalSeconds = () => faults.mintIntervalSeconds;
  const providerTokens = new ProviderTokens({ ...apns, clock, mintIntervalSeconds });
  const { connections, counts } = newCounts();
  const statistics = () =>
    describe({ connections, counts, accessTokens, providerTokens, deliveries, faults });
  const shared = { deliveries, faults, clock, log };
  const apnsListener = (environment: AppleSystem) =>
    new ApnsListener({
      ...shared,
      environment,
      providerTokens,
      tls,
      counts: counts[environment],
      connections: connections[environment],
    });
  return {
    http: new HttpListener({
      fcm: { ...shared, projectId: fcm.projectId, accessTokens, installations, counts: counts.fcm },
      oauth: { ...shared, serviceAccount: fcm, accessTokens, counts: counts.oauth, tokenUri },
      admin: { host, deliveries, faults, log, statistics },
      connections: connections.http,
    }),
    production: apnsListener('production'),
    sandbox: apnsListener('sandbox'),
    webPush: new PushListener({
      ...shared,
      subscriptions: new Subscriptions(),
      tls,
      counts: counts.webPush,
      connections: connections.webPush,
    }),
  };
}

interface Counted extends ReturnType<typeof newCounts> {
  readonly accessTokens: AccessTokens;
  readonly providerTokens: ProviderTokens;
  readonly deliveries: DeliveryLog;
  readonly faults: Faults;
}

/** Returns the content of `/stats`. */
function describe({
  connections,
  counts,
  accessTokens,
  providerTokens,
  deliveries,
  faults,
}: Counted): object {
  return {
    http: connections.http.toJson(),
    fcm: counts.fcm.toJson(),
    oauth: { ...counts.oauth.toJson(), access_tokens_issued: accessTokens.issuedCount },
    apns: {
      production: { ...connections.production.toJson(), ...counts.production.toJson() },
      sandbox: { ...connections.sandbox.toJson(), ...counts.sandbox.toJson() },
      provider_tokens_accepted: providerTokens.acceptedCount,
    },
    webpush: { ...connections.webPush.toJson(), ...counts.webPush.toJson() },
    deliveries: { kept: deliveries.kept, forgotten: deliveries.forgotten },
    faults_fired: faults.fired,
  };
}

function newCounts() {
  const connections = {
    http: new ConnectionCounts(),
    production: new ConnectionCounts(),
    sandbox: new ConnectionCounts(),
    webPush: new ConnectionCounts(),
  };
  const counts = {
    fcm: new RequestCounts(),
    oauth: new RequestCounts(),
    production: new RequestCounts(),
    sandbox: new RequestCounts(),
    webPush: new RequestCounts(),
  };
  return { connections, counts };
}

function formatUrl(scheme: 'http' | 'https', host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
