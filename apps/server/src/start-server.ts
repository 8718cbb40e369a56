import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RunningService } from '@waxwing/service';
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
  let metricsServer: HttpServer | undefined;
  try {
    metricsServer = metricsPort === undefined ? undefined : await serveMetrics(server, host, metricsPort);
    const url = await server.app.listen({ host, port });
    const sweep = setInterval(() => void removeIdleQueues(server, options), sweepEveryMilliseconds);
    const metricsUrl =
      metricsServer && `http://${host}:${(metricsServer.address() as AddressInfo).port}/metrics`;
    options.log.info({ url, metricsUrl, relay: options.configuration.relay.kind }, 'listening');
    return {
      url,
      metricsUrl,
      realmUuid: server.realmUuid,
      async close() {
        clearInterval(sweep);
        metricsServer?.close();
        await server.close();
      },
    };
  } catch (error) {
    metricsServer?.close();
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

async function serveMetrics({ metrics }: Server, host: string, port: number): Promise<HttpServer> {
  metrics.collectProcessMetrics();
  const http = createHttpServer((request, response) => {
    if (request.url !== '/metrics') return void response.writeHead(404).end();
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, host, resolve);
  });
  return http;
}
