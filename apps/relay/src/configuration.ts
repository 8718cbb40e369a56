import { type Environment, EnvironmentReader, Secret } from '@waxwing/service/config';
import { type HttpLimits, readHttpLimits } from '@waxwing/service/http';
import { type LogLevel, logLevels } from '@waxwing/service/logging';
import {
  type DeliveriesConfiguration,
  readDeliveriesEnvironment,
} from './deliveries/deliveries-configuration.js';
import { type KeyRingConfiguration, readKeyRingEnvironment } from './keyring/key-ring-configuration.js';

const prefix = 'RELAY_';
// Far more than a server has at once, and far less than all.
const maximumRequestsPerServer = 1000;
const ports = { minimum: 0, maximum: 65_535 } as const;

export interface RelayConfiguration {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** A PostgreSQL URL holds a password. */
  readonly databaseUrl: Secret<string>;
  readonly logLevel: LogLevel;
  readonly http: HttpLimits;
  /** A second listener, on loopback, that serves /metrics. */
  readonly metrics:
    | { readonly kind: 'configured'; readonly port: number }
    | { readonly kind: 'not-configured' };
  readonly keyRing: KeyRingConfiguration;
  readonly deliveries: DeliveriesConfiguration;
}

/** Reads every RELAY_ variable. @throws ConfigurationError naming every problem at once. */
export function readRelayEnvironment(environment: Environment): RelayConfiguration {
  const reader = new EnvironmentReader(environment, prefix);
  const configuration: RelayConfiguration = {
    host: reader.optional('HOST') ?? '127.0.0.1',
    port: reader.integer('PORT', 8320, ports),
    databaseUrl: readDatabaseUrl(reader),
    logLevel: reader.oneOf('LOG_LEVEL', logLevels, 'info'),
    http: readHttpLimits(reader, { actor: 'SERVER', maximumRequests: maximumRequestsPerServer }),
    metrics: readMetrics(reader),
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

function readMetrics(reader: EnvironmentReader): RelayConfiguration['metrics'] {
  if (reader.optional('METRICS_PORT') === undefined) return { kind: 'not-configured' };
  return { kind: 'configured', port: reader.integer('METRICS_PORT', 0, ports) };
}
