import { type Environment, EnvironmentReader, Secret } from '@waxwing/service/config';
import {
  type HttpLimits,
  type ListenConfiguration,
  readHttpLimits,
  readListenConfiguration,
} from '@waxwing/service/http';
import { type LogLevel, logLevels } from '@waxwing/service/logging';
import {
  type DeliveriesConfiguration,
  readDeliveriesEnvironment,
} from './deliveries/deliveries-configuration.js';
import { type KeyRingConfiguration, readKeyRingEnvironment } from './keyring/key-ring-configuration.js';

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
  const configuration: RelayConfiguration = {
    ...readListenConfiguration(reader, 8320),
    databaseUrl: readDatabaseUrl(reader),
    logLevel: reader.oneOf('LOG_LEVEL', logLevels, 'info'),
    http: readHttpLimits(reader, { actor: 'SERVER', maximumRequests: maximumRequestsPerServer }),
    keyRing: readKeyRingEnvironment(reader),
    deliveries: readDeliveriesEnvironment(reader),
  };
  reader.finish();
  return configuration;
}

/** Where the database is, for commands that need nothing else. */
export function readDatabaseEnvironment(environment: Environment): Secret<string> {
  return readDatabaseUrl(new EnvironmentReader(environment, prefix));
}

function readDatabaseUrl(reader: EnvironmentReader): Secret<string> {
  return new Secret(reader.optional('DATABASE') ?? 'sqlite:relay.sqlite');
}
