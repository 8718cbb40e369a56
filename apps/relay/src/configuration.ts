import {
  type Environment,
  EnvironmentReader,
  type LogLevel,
  logLevels,
  Secret,
} from '@waxwing/service/config';
import {
  type HttpLimits,
  type ListenConfiguration,
  readHttpLimits,
  readListenConfiguration,
} from '@waxwing/service/http-settings';
import {
  type DeliveriesConfiguration,
  readDeliveriesEnvironment,
} from './deliveries/deliveries-configuration.js';
import {
  type KeyRingConfiguration,
  readKeyRingEnvironment,
} from './keyring/storage/key-ring-configuration.js';

const prefix = 'RELAY_';
// Far more than a server has at once, and far less than all.
const maximumRequestsPerServer = 1000;

export interface RelayConfiguration extends ListenConfiguration {
  /** A PostgreSQL URL holds a password. */
  readonly databaseUrl: Secret<string>;
  readonly logLevel: LogLevel;
  readonly http: HttpLimits;
  readonly keyRing: KeyRingConfiguration;
  readonly deliveries: DeliveriesConfiguration;
}

/** Reads every RELAY_ variable. @throws ConfigurationError naming every problem at once. */
export function readRelayEnvironment(environment: Environment): RelayConfiguration {
  const reader = new EnvironmentReader(environment, prefix);
  const configuration = readSettings(reader);
  reader.finish();
  return configuration;
}

/**
 * Where the database is, for commands that need nothing else; what is wrong with other settings is no matter.
 * @throws ConfigurationError naming every variable that is no setting: it may have been meant to name the database.
 */
export function readDatabaseEnvironment(environment: Environment): Secret<string> {
  const reader = new EnvironmentReader(environment, prefix);
  const { databaseUrl } = readSettings(reader);
  reader.refuseUnknown();
  return databaseUrl;
}

function readSettings(reader: EnvironmentReader): RelayConfiguration {
  return {
    ...readListenConfiguration(reader, 8320),
    databaseUrl: new Secret(reader.optional('DATABASE') ?? 'sqlite:relay.sqlite'),
    logLevel: reader.oneOf('LOG_LEVEL', logLevels, 'info'),
    http: readHttpLimits(reader, { actor: 'SERVER', maximumRequests: maximumRequestsPerServer }),
    keyRing: readKeyRingEnvironment(reader),
    deliveries: readDeliveriesEnvironment(reader),
  };
}
