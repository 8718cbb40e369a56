import { type Environment, EnvironmentReader, type Secret } from '@waxwing/service/config';
import { readProxyUrl } from '@waxwing/service/http-settings';

/** Delivery settings: vendor credentials, vendor URLs and limits. */
export interface DeliveriesConfiguration {
  readonly apps: { readonly kind: 'configured'; readonly file: string } | { readonly kind: 'not-configured' };
  readonly fcmBaseUrl: string;
  readonly apnsUrls: { readonly production: string; readonly sandbox: string };
  /** PEM file of the certificate authority for APNs; the system's authorities if `undefined`. */
  readonly apnsCaFile: string | undefined;
  /** Push service hosts that may have a private address, each with its port (`push.lan:443`). */
  readonly webPushPrivateHosts: ReadonlySet<string>;
  /** URL of the HTTP proxy for connections to the vendors. May contain a password. */
  readonly proxyUrl: Secret<string> | undefined;
  /** Maximum number of notifications per server and minute. */
  readonly notificationsPerMinute: number;
  /** Maximum number of notifications in memory. Above this limit, requests get 503. */
  readonly maximumInFlight: number;
  /** Maximum number of notifications queued for a retry. Above this limit, requests get 503. */
  readonly maximumQueued: number;
}

/** Reads the delivery settings. Without RELAY_APPS_FILE, the relay accepts registrations but rejects notifications. */
export function readDeliveriesEnvironment(reader: EnvironmentReader): DeliveriesConfiguration {
  const file = reader.optional('APPS_FILE');
  const apnsCaFile = reader.optional('APNS_CA_FILE');
  const vendorUrls = {
    FCM_BASE_URL: reader.optionalUrl('FCM_BASE_URL'),
    APNS_PRODUCTION_URL: reader.optionalUrl('APNS_PRODUCTION_URL'),
    APNS_SANDBOX_URL: reader.optionalUrl('APNS_SANDBOX_URL'),
  };
  if (file === undefined) {
    for (const [name, value] of Object.entries({ ...vendorUrls, APNS_CA_FILE: apnsCaFile })) {
      if (value === undefined) continue;
      reader.problem(
        `RELAY_${name} is set but RELAY_APPS_FILE is not: set both, or neither to deliver nothing.`,
      );
    }
  }
  for (const name of ['APNS_PRODUCTION_URL', 'APNS_SANDBOX_URL'] as const) {
    if (vendorUrls[name]?.startsWith('http://')) {
      reader.problem(`RELAY_${name} is "${vendorUrls[name]}": APNs requires TLS, so write https://.`);
    }
  }
  return {
    apps: file === undefined ? { kind: 'not-configured' } : { kind: 'configured', file },
    fcmBaseUrl: vendorUrls.FCM_BASE_URL ?? 'https://fcm.googleapis.com',
    apnsUrls: {
      production: vendorUrls.APNS_PRODUCTION_URL ?? 'https://api.push.apple.com',
      sandbox: vendorUrls.APNS_SANDBOX_URL ?? 'https://api.sandbox.push.apple.com',
    },
    apnsCaFile,
    webPushPrivateHosts: readPrivateHosts(reader),
    proxyUrl: readProxyUrl(reader, 'PROXY'),
    notificationsPerMinute: reader.integer('SERVER_NOTIFICATIONS_PER_MINUTE', 600_000, {
      minimum: 1,
      maximum: 1_000_000_000,
    }),
    maximumInFlight: reader.integer('MAXIMUM_NOTIFICATIONS_IN_FLIGHT', 10_000, {
      minimum: 1,
      maximum: 1_000_000,
    }),
    maximumQueued: reader.integer('MAXIMUM_NOTIFICATIONS_QUEUED', 1_000_000, {
      minimum: 0,
      maximum: 1_000_000_000,
    }),
  };
}

/**
 * Reads only RELAY_APPS_FILE, for a command.
 * @throws ConfigurationError if the value is a secret instead of a path.
 */
export function readAppsFileSetting({ RELAY_APPS_FILE }: Environment): string | undefined {
  const reader = new EnvironmentReader({ RELAY_APPS_FILE }, 'RELAY_');
  const file = reader.optional('APPS_FILE');
  reader.finish();
  return file;
}

const privateHost = /^([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::([1-9]\d{0,4}))?$/;

/** Reads comma-separated hosts with optional ports, such as `push.lan,localhost:8443`. */
function readPrivateHosts(reader: EnvironmentReader): ReadonlySet<string> {
  const texts = (reader.optional('WEB_PUSH_PRIVATE_HOSTS') ?? '').split(',').map((text) => text.trim());
  const hosts = texts
    .filter((text) => text !== '')
    .map((text) => {
      const [, host, port = '443'] = privateHost.exec(text) ?? [];
      if (host === undefined || Number(port) > 65_535) {
        reader.problem(
          `RELAY_WEB_PUSH_PRIVATE_HOSTS has "${text}", which is not a host: write hosts in lower case, with a port other than 443 after a colon, separated by commas.`,
        );
      }
      return `${host}:${port}`;
    });
  return new Set(hosts);
}
