import { type MetricsListener, type RunningService, startMetricsListener } from '@waxwing/service';
import { createServer, type Server, type ServerOptions } from './create-server.js';

export interface RunningServer extends RunningService {
  /** Where it answers. */
  readonly url: string;
  readonly realmUuid: string;
  /** Where `GET /metrics` is answered, if anywhere. */
  readonly metricsUrl: string | undefined;
}

const sweepEveryMilliseconds = 60_000;

/** Starts a server that listens as it is configured. @throws as {@link createServer}, and when a port is taken. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host, metricsPort, port } = options.configuration;
  const server = await createServer(options);
  let metricsListener: MetricsListener | undefined;
  try {
    if (metricsPort !== undefined) {
      server.metrics.collectProcessMetrics();
      metricsListener = await startMetricsListener(server.metrics, metricsPort);
    }
    const url = await server.app.listen({ host, port });
    const sweep = setInterval(() => void removeIdleQueues(server, options), sweepEveryMilliseconds);
    const metricsUrl = metricsListener?.url;
    options.log.info({ url, metricsUrl, relay: options.configuration.relay.kind }, 'listening');
    return {
      url,
      metricsUrl,
      realmUuid: server.realmUuid,
      async close() {
        clearInterval(sweep);
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

async function removeIdleQueues(server: Server, { log }: ServerOptions): Promise<void> {
  try {
    const removed = await server.removeIdleQueues();
    if (removed > 0) log.info({ removed }, 'removed idle event queues');
  } catch (err) {
    log.error({ err }, 'idle event queues could not be removed');
  }
}
