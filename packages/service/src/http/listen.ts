import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { EnvironmentReader } from '../config/environment-reader.js';
import { openInOrder } from '../lifecycle/open-in-order.js';
import type { RunningService } from '../lifecycle/run-process.js';
import type { Metrics } from '../metrics/metrics.js';
import { formatHttpUrl } from './http-url.js';
import { startMetricsListener } from './metrics-listener.js';
import type { Readiness } from './readiness.js';

/** Where a service is to listen. */
export interface ListenConfiguration {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** A second listener, for the operator's network alone, that serves /metrics. */
  readonly metrics:
    | { readonly kind: 'configured'; readonly host: string; readonly port: number }
    | { readonly kind: 'not-configured' };
}

/** A service that is ready to answer; it listens nowhere yet. */
export interface HttpService extends RunningService {
  readonly app: FastifyInstance;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
}

export interface ListeningService extends RunningService {
  readonly url: string;
  /** `undefined` where no metrics port is configured. */
  readonly metricsUrl: string | undefined;
}

const ports = { minimum: 0, maximum: 65_535 } as const;

/** Reads the settings that both programs have under their prefixes. */
export function readListenConfiguration(reader: EnvironmentReader, usualPort: number): ListenConfiguration {
  const hasMetrics = reader.optional('METRICS_PORT') !== undefined;
  const metricsHost = reader.optional('METRICS_HOST');
  if (metricsHost !== undefined && !hasMetrics) {
    const [host, port] = [reader.fullName('METRICS_HOST'), reader.fullName('METRICS_PORT')];
    reader.problem(`${host} says where metrics are shown, but ${port} is not set: set both or neither.`);
  }
  return {
    host: reader.optional('HOST') ?? '127.0.0.1',
    port: reader.integer('PORT', usualPort, ports),
    metrics: hasMetrics
      ? {
          kind: 'configured',
          host: metricsHost ?? '127.0.0.1',
          port: reader.integer('METRICS_PORT', 0, ports),
        }
      : { kind: 'not-configured' },
  };
}

/**
 * Has a service listen as it is configured.
 * @throws the listener's error, such as EADDRINUSE; the service is closed then.
 */
export function listen(
  service: HttpService,
  { host, port, metrics }: ListenConfiguration,
): Promise<ListeningService> {
  const { app } = service;
  return openInOrder(async (closers) => {
    closers.push(() => service.close());
    let metricsUrl: string | undefined;
    if (metrics.kind === 'configured') {
      service.metrics.collectProcessMetrics();
      const listener = await startMetricsListener(service.metrics, metrics, service.readiness);
      closers.push(() => listener.close());
      metricsUrl = listener.url;
    }
    await app.listen({ host, port });
    return { url: formatHttpUrl(host, (app.server.address() as AddressInfo).port), metricsUrl };
  });
}
