import { dirname, join } from 'node:path';
import { uuidPattern } from '@waxwing/protocol/phone';
import type { EnvironmentReader, Secret } from '@waxwing/service/config';
import { readProxyUrl } from '@waxwing/service/http-settings';
import type { AdminNames } from '../admin-names.js';

/** The settings of the relay. The key file is not read yet. */
export type RelaySettings =
  | {
      readonly kind: 'configured';
      readonly url: string;
      readonly serverId: string;
      /** File with the server key that `waxwing-relay servers add` printed. Only its owner may have access. */
      readonly serverKeyFile: string;
    }
  | { readonly kind: 'not-configured' };

/** Settings for the relay account that `push enable` stores in the database. */
export interface PushAccountSettings {
  /** File with the key that encrypts the account's key in the database; `undefined` on PostgreSQL if no setting names it. */
  readonly keyFile: string | undefined;
  /** Whether a relay on another machine may be reached over plain HTTP. */
  readonly allowsPlainHttp: boolean;
}

/** Settings for the network path to the relay. */
export interface RelayNetworkSettings {
  /** PEM file with the certificates of additional certificate authorities. */
  readonly caFile: string | undefined;
  /** URL of the proxy. A secret, because it may contain a password. */
  readonly proxyUrl: Secret<string> | undefined;
}

/** Settings for the relay and the path to it. */
export interface AccountSettings {
  readonly relay: RelaySettings;
  readonly pushAccount: PushAccountSettings;
  readonly relayNetwork: RelayNetworkSettings;
}

/**
 * Reads KEY_FILE and the RELAY_ settings, and reports problems to the reader. With SQLite, the default key file is next
 * to the database file.
 */
export function readAccountSettings(
  reader: EnvironmentReader,
  databaseUrl: string,
  { program }: AdminNames,
): AccountSettings {
  const pushAccount = readPushAccount(reader, databaseUrl, `${program}.key`);
  return { relay: readRelay(reader, pushAccount), pushAccount, relayNetwork: readRelayNetwork(reader) };
}

function readPushAccount(
  reader: EnvironmentReader,
  databaseUrl: string,
  keyFileName: string,
): PushAccountSettings {
  const file = /^sqlite:(.+)$/s.exec(databaseUrl)?.[1];
  const defaultKeyFile = file && join(dirname(file), keyFileName);
  return {
    keyFile: reader.optional('KEY_FILE') ?? defaultKeyFile,
    allowsPlainHttp: reader.oneOf('RELAY_PLAIN_HTTP', ['off', 'on'], 'off') === 'on',
  };
}

function readRelayNetwork(reader: EnvironmentReader): RelayNetworkSettings {
  return {
    caFile: reader.optional('RELAY_CA_FILE'),
    proxyUrl: readProxyUrl(reader, 'RELAY_PROXY'),
  };
}

function readRelay(reader: EnvironmentReader, { allowsPlainHttp }: PushAccountSettings): RelaySettings {
  const url = reader.optionalUrl('RELAY_URL');
  const serverId = reader.optional('RELAY_SERVER_ID');
  const serverKeyFile = reader.optional('RELAY_SERVER_KEY_FILE');
  if (url !== undefined && !allowsPlainHttp && isPlainToOthers(new URL(url))) {
    reader.problem(
      `${reader.fullName('RELAY_URL')} is "${url}": plain http to another machine reveals the server key to any machine in between; use https, or set ${reader.fullName('RELAY_PLAIN_HTTP')}=on if you trust the network.`,
    );
  }
  const all = { RELAY_URL: url, RELAY_SERVER_ID: serverId, RELAY_SERVER_KEY_FILE: serverKeyFile };
  const missing = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (missing.length === Object.keys(all).length) return { kind: 'not-configured' };
  if (missing.length > 0) {
    const names = missing.map((name) => reader.fullName(name)).join(' and ');
    reader.problem(
      `The relay is only partly configured, ${names} missing or wrong: set all ${reader.fullName('RELAY_*')} or none.`,
    );
  }
  if (serverId !== undefined && !uuidPattern.test(serverId)) {
    reader.problem(
      `${reader.fullName('RELAY_SERVER_ID')} is "${serverId}": it must be the UUID that waxwing-relay servers add printed.`,
    );
  }
  return {
    kind: 'configured',
    url: url ?? '',
    serverId: (serverId ?? '').toLowerCase(),
    serverKeyFile: serverKeyFile ?? '',
  };
}

/** Whether requests to this URL cross a network unencrypted. */
export function isPlainToOthers({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
