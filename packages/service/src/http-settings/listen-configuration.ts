import type { EnvironmentReader } from '../config/environment-reader.js';

/** Listen addresses of a service. */
export interface ListenConfiguration {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** How long a draining process keeps serving requests while reporting that it is not ready. */
  readonly drainMilliseconds: number;
  /** A second listener, which serves /metrics and is intended only for the operator's network. */
  readonly metrics:
    | { readonly kind: 'configured'; readonly host: string; readonly port: number }
    | { readonly kind: 'not-configured' };
}

/** Allowed drain time. systemd and Kubernetes wait twenty seconds longer before they kill the process. */
const drainSeconds = { minimum: 0, maximum: 60 } as const;
const ports = { minimum: 0, maximum: 65_535 } as const;

/** Reads the listen addresses from the environment. */
export function readListenConfiguration(reader: EnvironmentReader, usualPort: number): ListenConfiguration {
  const hasMetrics = reader.optional('METRICS_PORT') !== undefined;
  const metricsHost = reader.optional('METRICS_HOST');
  if (metricsHost !== undefined && !hasMetrics) {
    const [host, port] = [reader.fullName('METRICS_HOST'), reader.fullName('METRICS_PORT')];
    reader.problem(`${host} says where metrics are shown, but ${port} is not set: set both or neither.`);
  }
  const main = {
    host: reader.optional('HOST') ?? '127.0.0.1',
    port: reader.integer('PORT', usualPort, ports),
  };
  const metrics = hasMetrics
    ? { host: metricsHost ?? '127.0.0.1', port: reader.integer('METRICS_PORT', 0, ports) }
    : undefined;
  if (metrics !== undefined && collide(main, metrics)) {
    const [port, metricsPort] = [reader.fullName('PORT'), reader.fullName('METRICS_PORT')];
    reader.problem(`${port} and ${metricsPort} are both ${main.port}: set two different ports.`);
  }
  return {
    ...main,
    drainMilliseconds: reader.integer('DRAIN_SECONDS', 0, drainSeconds) * 1000,
    metrics: metrics === undefined ? { kind: 'not-configured' } : { kind: 'configured', ...metrics },
  };
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Whether two listeners of one process conflict. An address that listens on all interfaces overlaps with every other
 * address.
 */
function collide(one: Address, other: Address): boolean {
  const hosts = [one.host, other.host];
  const overlap = one.host === other.host || hosts.includes('0.0.0.0') || hosts.includes('::');
  return one.port !== 0 && one.port === other.port && overlap;
}
