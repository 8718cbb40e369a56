import { join } from 'node:path';
import type { QuickstartOptions } from './quickstart-options.js';

/** Address of all services: loopback only. */
export const host = '127.0.0.1';

/** Paths of the quickstart's files, which are all in the data directory. */
export interface QuickstartPaths {
  readonly quickstartJson: string;
  /** Lock file of the quickstart that uses the directory. */
  readonly lock: string;
  readonly secrets: string;
  /** curl configuration that authenticates as the owner. */
  readonly ownerCurl: string;
  readonly relayLog: string;
  readonly serverLog: string;
  readonly relayDatabase: string;
  readonly serverDatabase: string;
  readonly keyRing: string;
  readonly keyRingIdentity: string;
  readonly recoveryKey: string;
  readonly apps: string;
  readonly adminToken: string;
  readonly serverKey: string;
  readonly vendors: string;
}

export function quickstartPaths(dataDir: string): QuickstartPaths {
  const at = (name: string): string => join(dataDir, name);
  return {
    quickstartJson: at('quickstart.json'),
    lock: at('quickstart.lock'),
    secrets: at('quickstart-secrets.json'),
    ownerCurl: at('owner.curl'),
    relayLog: at('relay.log'),
    serverLog: at('server.log'),
    relayDatabase: at('relay.sqlite'),
    serverDatabase: at('server.sqlite'),
    keyRing: at('key-ring.age'),
    keyRingIdentity: at('key-ring-identity.txt'),
    recoveryKey: at('recovery-key.txt'),
    apps: at('apps.json'),
    adminToken: at('admin-token.txt'),
    serverKey: at('server-key.txt'),
    vendors: at('vendors'),
  };
}

/** Returns the environment variables for `waxwing-relay` to run the quickstart's relay and its commands. */
export function relayEnvironment(
  { ports }: QuickstartOptions,
  paths: QuickstartPaths,
  vendors: {
    readonly fcm: string;
    readonly apnsProduction: string;
    readonly apnsSandbox: string;
    readonly webPush: string;
    readonly caFile: string;
  },
): Record<string, string> {
  return {
    RELAY_HOST: host,
    RELAY_PORT: String(ports.relay),
    RELAY_DATABASE: `sqlite:${paths.relayDatabase}`,
    RELAY_KEY_RING: paths.keyRing,
    RELAY_KEY_RING_IDENTITY_FILE: paths.keyRingIdentity,
    RELAY_APPS_FILE: paths.apps,
    RELAY_ADMIN_TOKEN_FILE: paths.adminToken,
    RELAY_FCM_BASE_URL: vendors.fcm,
    RELAY_APNS_PRODUCTION_URL: vendors.apnsProduction,
    RELAY_APNS_SANDBOX_URL: vendors.apnsSandbox,
    RELAY_APNS_CA_FILE: vendors.caFile,
    RELAY_CA_FILE: vendors.caFile,
    RELAY_WEB_PUSH_PRIVATE_HOSTS: new URL(vendors.webPush).host,
  };
}

/**
 * Returns the environment variables for `waxwing-server` to run the quickstart's server and its commands. Without
 * `relay`, the server has no relay.
 */
export function serverEnvironment(
  { ports }: QuickstartOptions,
  paths: QuickstartPaths,
  relay?: { readonly url: string; readonly serverId: string },
): Record<string, string> {
  const own = {
    SERVER_HOST: host,
    SERVER_PORT: String(ports.server),
    SERVER_DATABASE: `sqlite:${paths.serverDatabase}`,
    SERVER_REALM_URL: `http://${host}:${ports.server}`,
    SERVER_REALM_NAME: 'Waxwing Quickstart',
  };
  if (relay === undefined) return own;
  return {
    ...own,
    SERVER_RELAY_URL: relay.url,
    SERVER_RELAY_SERVER_ID: relay.serverId,
    SERVER_RELAY_SERVER_KEY_FILE: paths.serverKey,
  };
}
