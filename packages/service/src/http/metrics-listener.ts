import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formatHttpUrl } from '../http-settings/http-url.js';
import type { Metrics } from '../metrics/metrics.js';
import { describeForeignRequest } from './connections/foreign-request.js';
import { type Readiness, readinessAnswer } from './health/readiness.js';

export interface MetricsListener {
  /** URL of the metrics, including the path. */
  readonly url: string;
  close(): Promise<void>;
}

const json = 'application/json; charset=utf-8';

/**
 * Starts a listener for operators on a separate port: metrics, and health with the reasons that the public endpoint
 * hides. Port 0 selects a free port. A request from a web page of another site gets 403.
 */
export async function startMetricsListener(
  metrics: Metrics,
  { host, port }: { readonly host: string; readonly port: number },
  readiness: Readiness,
): Promise<MetricsListener> {
  const server = createServer((request, response) => {
    const foreign = describeForeignRequest(request.headers, host);
    if (foreign !== undefined) {
      response.writeHead(403, { 'content-type': 'text/plain' }).end(`${foreign}\n`);
      return;
    }
    answer(request.url, response, { metrics, readiness }).catch((error: unknown) =>
      response.writeHead(500).end(String(error)),
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `${formatHttpUrl(host, (server.address() as AddressInfo).port)}/metrics`,
    async close() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

interface Sources {
  readonly metrics: Metrics;
  readonly readiness: Readiness;
}

async function answer(
  url: string | undefined,
  response: ServerResponse,
  { metrics, readiness }: Sources,
): Promise<void> {
  switch (url) {
    case '/metrics': {
      const text = await metrics.text();
      response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
      return;
    }
    case '/health/live':
      response.writeHead(200, { 'content-type': json }).end('{"live":true}\n');
      return;
    case '/health/ready': {
      const { httpStatus, body } = readinessAnswer(await readiness.look(), { isPublic: false });
      response.writeHead(httpStatus, { 'content-type': json }).end(body);
      return;
    }
    default:
      response.writeHead(404).end();
  }
}
