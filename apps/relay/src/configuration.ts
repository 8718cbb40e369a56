import {
  type Environment,
  EnvironmentReader,
  type LogLevel,
  logLevels,
  type Secret,
} from '@waxwing/service/config';
import {
  type DashboardConfiguration,
  type HttpLimits,
  type ListenConfiguration,
  readDashboardEnvironment,
  readHttpLimits,
  readListenConfiguration,
} from '@waxwing/service/http-settings';
import { readTracingConfiguration, type TracingConfiguration } from '@waxwing/service/tracing';
import {
  type DeliveriesConfiguration,
  readDeliveriesEnvironment,
} from './deliveries/deliveries-configuration.js';
import {
  type KeyRingConfiguration,
  readKeyRingEnvironment,
} from './keyring/storage/key-ring-configuration.js';
import {
  type JoiningConfiguration,
  readJoiningEnvironment,
} from './servers/joining/joining-configuration.js';

const prefix = 'RELAY_';
// Far more requests than one server normally has in flight, and far below the limit for all servers together.
const maximumRequestsPerServer = 1000;

export interface RelayConfiguration extends ListenConfiguration {
  /** Secret, because a PostgreSQL URL contains a password. */
  readonly databaseUrl: Secret<string>;
  readonly logLevel: LogLevel;
  readonly tracing: TracingConfiguration;
  readonly http: HttpLimits;
  readonly keyRing: KeyRingConfiguration;
  readonly deliveries: DeliveriesConfiguration;
  readonly joining: JoiningConfiguration;
  readonly dashboard: DashboardConfiguration;
  /** PEM file of additional certificate authorities to trust for all outgoing connections. */
  readonly caFile: string | undefined;
  /** Whether devices may register and receive notifications without encryption. */
  readonly takesPlaintextDevices: boolean;
}

/**
 * Reads all RELAY_ variables.
 * @throws ConfigurationError that lists every problem.
 */
export function readRelayEnvironment(environment: Environment): RelayConfiguration {
  const reader = new EnvironmentReader(environment, prefix);
  const configuration = readSettings(reader);
  reader.finish();
  return configuration;
}

/**
 * Reads the database URL, for commands that need nothing else. Ignores invalid values of other settings.
 * @throws ConfigurationError that lists every unknown variable: one may be a misspelled database setting.
 */
export function readDatabaseEnvironment(environment: Environment): Secret<string> {
  const reader = new EnvironmentReader(environment, prefix);
  const { databaseUrl } = readSettings(reader);
  reader.refuseUnknown();
  return databaseUrl;
}

function readSettings(reader: EnvironmentReader): RelayConfiguration {
  const listening = readListenConfiguration(reader, 8320);
  return {
    ...listening,
    databaseUrl: reader.databaseUrl('DATABASE', 'sqlite:relay.sqlite'),
    logLevel: reader.oneOf('LOG_LEVEL', logLevels, 'info'),
    tracing: readTracingConfiguration(reader),
    http: readHttpLimits(reader, { actor: 'SERVER', maximumRequests: maximumRequestsPerServer }),
    keyRing: readKeyRingEnvironment(reader),
    deliveries: readDeliveriesEnvironment(reader),
    joining: readJoiningEnvironment(reader),
    dashboard: readDashboardEnvironment(reader, { hasMetricsPort: listening.metrics.kind === 'configured' }),
    caFile: reader.optional('CA_FILE'),
    takesPlaintextDevices: reader.oneOf('PLAINTEXT_DEVICES', ['on', 'off'], 'off') === 'on',
  };
}
