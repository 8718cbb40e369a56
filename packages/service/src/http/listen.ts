import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { formatHttpUrl } from '../http-settings/http-url.js';
import type { ListenConfiguration } from '../http-settings/listen-configuration.js';
import { openInOrder } from '../lifecycle/open-in-order.js';
import type { RunningService } from '../lifecycle/run-process.js';
import type { Metrics } from '../metrics/metrics.js';
import { drain } from './drain.js';
import { checkResults, type Readiness } from './health/readiness.js';
import { type OperatorOperations, startMetricsListener } from './metrics-listener.js';

/** A service that is not listening yet. */
export interface HttpService extends RunningService {
  readonly app: FastifyInstance;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  /** Operations for operators, served on the metrics port. Default: no operations. */
  readonly forOperators?: OperatorOperations;
}

export interface ListeningService extends RunningService {
  readonly url: string;
  /** `undefined` if no metrics port is configured. */
  readonly metricsUrl: string | undefined;
  /** Makes a later `close` skip draining, because a process that has crashed must not keep serving. */
  skipDrain(): void;
}

/**
 * Starts the listeners of a service: the app and, if configured, the metrics listener. When the service closes, it
 * first drains the app as configured.
 * @throws the listener's error, such as EADDRINUSE, after closing the service
 */
export function listen(
  service: HttpService,
  { host, port, drainMilliseconds, metrics }: ListenConfiguration,
): Promise<ListeningService> {
  const { app } = service;
  return openInOrder(async (closers) => {
    closers.push(() => service.close());
    const stopWatch = service.readiness.watch();
    closers.push(async () => stopWatch());
    let metricsUrl: string | undefined;
    if (metrics.kind === 'configured') {
      service.metrics.collectProcessMetrics();
      service.metrics.watchReadiness(async () => checkResults(await service.readiness.look()));
      const listener = await startMetricsListener(
        service.metrics,
        metrics,
        service.readiness,
        service.forOperators,
      );
      closers.push(() => listener.close());
      metricsUrl = listener.url;
    }
    await app.listen({ host, port });
    const skipping = new AbortController();
    const draining = { milliseconds: drainMilliseconds, skipped: skipping.signal };
    closers.push(() => drain(app, service.readiness, draining));
    const url = formatHttpUrl(host, (app.server.address() as AddressInfo).port);
    return { url, metricsUrl, skipDrain: () => skipping.abort() };
  });
}
