import type { RunningService } from '@waxwing/service/lifecycle';
import { type MetricsListener, startMetricsListener } from '@waxwing/service/metrics';
import { createServer, type ServerOptions } from './create-server.js';

export interface RunningServer extends RunningService {
  /** Where it answers. */
  readonly url: string;
  readonly realmUuid: string;
  /** Where `GET /metrics` is answered, if anywhere. */
  readonly metricsUrl: string | undefined;
}

/** Starts a server that listens as it is configured. @throws as {@link createServer}, and when a port is taken. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host, metricsPort, port } = options.configuration;
  const server = await createServer(options);
  let metricsListener: MetricsListener | undefined;
  try {
    if (metricsPort !== undefined) {
      server.metrics.collectProcessMetrics();
      metricsListener = await startMetricsListener(server.metrics, metricsPort, server.readiness);
    }
    const url = await server.app.listen({ host, port });
    const metricsUrl = metricsListener?.url;
    options.log.info({ url, metricsUrl, relay: options.configuration.relay.kind }, 'listening');
    return {
      url,
      metricsUrl,
      realmUuid: server.realmUuid,
      async close() {
        await metricsListener?.close();
        await server.close();
      },
    };
  } catch (error) {
    await metricsListener?.close();
    await server.close();
    throw error;
  }
}
