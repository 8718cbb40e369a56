import {
  type AccountSettings,
  maximumRealmUrlBytes,
  readAccountSettings,
} from '@waxwing/server-push/foundation';
import {
  type Environment,
  EnvironmentReader,
  type LogLevel,
  logLevels,
  type Secret,
} from '@waxwing/service/config';
import {
  type DashboardConfiguration,
  formatHttpUrl,
  type HttpLimits,
  type ListenConfiguration,
  readDashboardEnvironment,
  readHttpLimits,
  readListenConfiguration,
} from '@waxwing/service/http-settings';
import { readTracingConfiguration, type TracingConfiguration } from '@waxwing/service/tracing';
import { readUploads, type UploadsConfiguration } from './content/uploads/uploads-configuration.js';
import { adminNames } from './push/admin-names.js';

export interface ServerConfiguration extends ListenConfiguration, AccountSettings {
  /** Secret, because a PostgreSQL URL may contain a password. */
  readonly databaseUrl: Secret<string>;
  readonly logLevel: LogLevel;
  readonly tracing: TracingConfiguration;
  readonly http: HttpLimits;
  readonly realm: {
    readonly url: string;
    readonly name: string;
    /** Set if no URL is configured. `url` is then the address that this process listens on. */
    readonly hasDefaultUrl?: true;
  };
  /** Maximum number of registrations forwarded per user and hour. */
  readonly registrationsPerHour: number;
  readonly uploads: UploadsConfiguration;
  readonly dashboard: DashboardConfiguration;
  /** Default validity of invitation links. */
  readonly invitationValidityMinutes: number;
  /** Whether channels may be web-public, which lets unauthenticated clients read them and load their files. */
  readonly offersWebPublicChannels: boolean;
}

// Default limit of concurrent requests per user: twice the maximum number of event queues, because each queue can have
// a long poll in addition to other requests.
const maximumRequestsPerUser = 100;
const registrationsPerHourRange = { minimum: 1, maximum: 100_000 };
// Validity of invitation links, in minutes. The maximum is 100 years.
const validityRange = { minimum: 1, maximum: 52_704_000 };

/**
 * Reads the `SERVER_*` variables.
 * @throws ConfigurationError that lists all problems.
 */
export function readServerEnvironment(environment: Environment): ServerConfiguration {
  const reader = new EnvironmentReader(environment, adminNames.prefix);
  const listening = readListenConfiguration(reader, 8310);
  const databaseUrl = reader.databaseUrl('DATABASE', 'sqlite:server.sqlite');
  const logLevel = reader.oneOf('LOG_LEVEL', logLevels, 'info');
  const tracing = readTracingConfiguration(reader);
  const http = readHttpLimits(reader, { actor: 'USER', maximumRequests: maximumRequestsPerUser });
  const realmUrl = reader.optionalUrl('REALM_URL');
  const realm = {
    url: realmUrl ?? formatHttpUrl(listening.host, listening.port),
    name: reader.optional('REALM_NAME') ?? 'Waxwing',
    ...(realmUrl === undefined ? { hasDefaultUrl: true as const } : {}),
  };
  if (Buffer.byteLength(realm.url) > maximumRealmUrlBytes) {
    reader.problem(`SERVER_REALM_URL is too long: the maximum is ${maximumRealmUrlBytes} bytes.`);
  }
  const { relay, pushAccount, relayNetwork } = readAccountSettings(reader, databaseUrl.reveal(), adminNames);
  const registrationsPerHour = reader.integer('REGISTRATIONS_PER_HOUR', 60, registrationsPerHourRange);
  const uploads = readUploads(reader, databaseUrl.reveal());
  const dashboard = readDashboardEnvironment(reader, {
    hasMetricsPort: listening.metrics.kind === 'configured',
  });
  const invitationValidityMinutes = reader.integer('INVITATION_LINK_VALIDITY_MINUTES', 14_400, validityRange);
  const offersWebPublicChannels = reader.oneOf('WEB_PUBLIC_CHANNELS', ['off', 'on'], 'off') === 'on';
  reader.finish();
  return {
    ...listening,
    databaseUrl,
    logLevel,
    tracing,
    http,
    realm,
    relay,
    pushAccount,
    relayNetwork,
    registrationsPerHour,
    offersWebPublicChannels,
    uploads,
    dashboard,
    invitationValidityMinutes,
  };
}
