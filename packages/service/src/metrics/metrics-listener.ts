import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeForeignRequest } from '../http/foreign-request.js';
import type { Metrics } from './metrics.js';

export interface MetricsListener {
  /** Where the metrics are, path included. */
  readonly url: string;
  close(): Promise<void>;
}

const host = '127.0.0.1';

/**
 * Serves the process's metrics on loopback, apart from the operations that servers reach. Port 0 takes any. A request
 * from a web page of another site is refused with 403.
 */
export async function startMetricsListener(metrics: Metrics, port: number): Promise<MetricsListener> {
  const server = createServer((request, response) => {
    const foreign = describeForeignRequest(request.headers, host);
    if (foreign !== undefined) {
      response.writeHead(403, { 'content-type': 'text/plain' }).end(`${foreign}\n`);
      return;
    }
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/metrics`,
    async close() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}
