import { dirname, join } from 'node:path';
import { uuidPattern } from '@waxwing/protocol/phone';
import { maximumRealmUrlBytes } from '@waxwing/server-push/foundation';
import {
  type Environment,
  EnvironmentReader,
  type LogLevel,
  logLevels,
  Secret,
} from '@waxwing/service/config';
import {
  formatHttpUrl,
  type HttpLimits,
  type ListenConfiguration,
  readHttpLimits,
  readListenConfiguration,
  readProxyUrl,
} from '@waxwing/service/http-settings';
import { readUploads, type UploadsConfiguration } from './content/uploads/uploads-configuration.js';

/** The relay's settings, before the key file is read. */
export type RelaySettings =
  | {
      readonly kind: 'configured';
      readonly url: string;
      readonly serverId: string;
      /** Holds the server key that `waxwing-relay servers add` printed. Must be readable by its owner only. */
      readonly serverKeyFile: string;
    }
  | { readonly kind: 'not-configured' };

/** Settings of the relay account that `push enable` keeps in the database. */
export interface PushAccountSettings {
  /** Holds the key that encrypts the account's key in the database; `undefined` without a setting on PostgreSQL. */
  readonly keyFile: string | undefined;
  /** Whether a relay on another machine may be asked over plain HTTP. */
  readonly allowsPlainHttp: boolean;
}

/** Settings of how the relay is reached. */
export interface RelayNetworkSettings {
  /** PEM file with certificates of further authorities. */
  readonly caFile: string | undefined;
  /** A secret, because it may hold a password. */
  readonly proxyUrl: Secret<string> | undefined;
}

export interface ServerConfiguration extends ListenConfiguration {
  /** A secret, because a PostgreSQL URL contains a password. */
  readonly databaseUrl: Secret<string>;
  readonly logLevel: LogLevel;
  readonly http: HttpLimits;
  readonly realm: {
    readonly url: string;
    readonly name: string;
    /** Set if no URL is configured: `url` is then the address on which this process listens. */
    readonly hasDefaultUrl?: true;
  };
  readonly relay: RelaySettings;
  readonly pushAccount: PushAccountSettings;
  readonly relayNetwork: RelayNetworkSettings;
  /** Maximum forwarded registrations per user and hour. */
  readonly registrationsPerHour: number;
  readonly uploads: UploadsConfiguration;
  /** Default validity of invitation links. */
  readonly invitationValidityMinutes: number;
  /** Whether channels may be web-public: visible to unauthenticated clients, which may also load their files. */
  readonly offersWebPublicChannels: boolean;
}

// Twice the maximum of a user's event queues. Each queue can have one waiting poll.
const maximumRequestsPerUser = 100;
const registrationsPerHourRange = { minimum: 1, maximum: 100_000 };
// At most a hundred years, in minutes.
const validityRange = { minimum: 1, maximum: 52_704_000 };

/** Reads the `SERVER_*` variables. @throws ConfigurationError that names all problems at once. */
export function readServerEnvironment(environment: Environment): ServerConfiguration {
  const reader = new EnvironmentReader(environment, 'SERVER_');
  const listening = readListenConfiguration(reader, 8310);
  const databaseUrl = new Secret(reader.optional('DATABASE') ?? 'sqlite:server.sqlite');
  const logLevel = reader.oneOf('LOG_LEVEL', logLevels, 'info');
  const http = readHttpLimits(reader, { actor: 'USER', maximumRequests: maximumRequestsPerUser });
  const realmUrl = reader.optionalUrl('REALM_URL');
  const realm = {
    url: realmUrl ?? formatHttpUrl(listening.host, listening.port),
    name: reader.optional('REALM_NAME') ?? 'Waxwing',
    ...(realmUrl === undefined ? { hasDefaultUrl: true as const } : {}),
  };
  if (Buffer.byteLength(realm.url) > maximumRealmUrlBytes) {
    reader.problem(`SERVER_REALM_URL is too long: ${maximumRealmUrlBytes} bytes is the most.`);
  }
  const pushAccount = readPushAccount(reader, databaseUrl.reveal());
  const relay = readRelay(reader, pushAccount);
  const relayNetwork = readRelayNetwork(reader);
  const registrationsPerHour = reader.integer('REGISTRATIONS_PER_HOUR', 60, registrationsPerHourRange);
  const uploads = readUploads(reader, databaseUrl.reveal());
  const invitationValidityMinutes = reader.integer('INVITATION_LINK_VALIDITY_MINUTES', 14_400, validityRange);
  const offersWebPublicChannels = reader.oneOf('WEB_PUBLIC_CHANNELS', ['off', 'on'], 'off') === 'on';
  reader.finish();
  return {
    ...listening,
    databaseUrl,
    logLevel,
    http,
    realm,
    relay,
    pushAccount,
    relayNetwork,
    registrationsPerHour,
    offersWebPublicChannels,
    uploads,
    invitationValidityMinutes,
  };
}

/** The key file's default is beside the database file, if there is one. */
function readPushAccount(reader: EnvironmentReader, databaseUrl: string): PushAccountSettings {
  const file = /^sqlite:(.+)$/s.exec(databaseUrl)?.[1];
  const defaultKeyFile = file && join(dirname(file), 'waxwing-server.key');
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
      `SERVER_RELAY_URL is "${url}": plain http to another machine shows the server key to any machine in between; use https, or set SERVER_RELAY_PLAIN_HTTP=on on a network of your own.`,
    );
  }
  const all = { RELAY_URL: url, RELAY_SERVER_ID: serverId, RELAY_SERVER_KEY_FILE: serverKeyFile };
  const missing = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (missing.length === Object.keys(all).length) return { kind: 'not-configured' };
  if (missing.length > 0) {
    const names = missing.map((name) => `SERVER_${name}`).join(' and ');
    reader.problem(
      `The relay is configured by halves, ${names} missing or wrong: set all SERVER_RELAY_* or none.`,
    );
  }
  if (serverId !== undefined && !uuidPattern.test(serverId)) {
    reader.problem(
      `SERVER_RELAY_SERVER_ID is "${serverId}": it must be the UUID that waxwing-relay servers add printed.`,
    );
  }
  return {
    kind: 'configured',
    url: url ?? '',
    serverId: (serverId ?? '').toLowerCase(),
    serverKeyFile: serverKeyFile ?? '',
  };
}

/** Whether requests to this URL cross a network in the clear. */
export function isPlainToOthers({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
