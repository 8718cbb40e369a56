import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addressGroup } from '../http-settings/client-address.js';
import { formatHttpUrl } from '../http-settings/http-url.js';
import type { Log } from '../logging/create-logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { describeForeignRequest } from './connections/foreign-request.js';
import { type Readiness, readinessAnswer } from './health/readiness.js';
import type { BoundOperation } from './operations/operation.js';
import { toNodeListener } from './web/node-listener.js';
import { createWebHandler } from './web/web-handler.js';

export interface MetricsListener {
  /** URL of the metrics, including the path. */
  readonly url: string;
  close(): Promise<void>;
}

/** Additional operations of the listener, and the log for their unexpected errors. */
export interface OperatorOperations {
  readonly operations: readonly BoundOperation[];
  readonly log: Pick<Log, 'error'>;
}

const withoutOperations: OperatorOperations = { operations: [], log: { error: () => undefined } };
const json = 'application/json; charset=utf-8';

/**
 * Starts a listener for operators on a separate port: metrics, health with the reasons that the public endpoint hides,
 * and `operations`. Port 0 selects a free port. A request from a web page on another site gets 403.
 */
export async function startMetricsListener(
  metrics: Metrics,
  { host, port }: { readonly host: string; readonly port: number },
  readiness: Readiness,
  { operations, log }: OperatorOperations = withoutOperations,
): Promise<MetricsListener> {
  const serveOperation = toNodeListener(createWebHandler({ operations, log }), log, ({ socket }) => ({
    address: socket.remoteAddress === undefined ? undefined : addressGroup(socket.remoteAddress),
  }));
  const server = createServer((request, response) => {
    const foreign = describeForeignRequest(request.headers, host);
    if (foreign !== undefined) {
      response.writeHead(403, { 'content-type': 'text/plain' }).end(`${foreign}\n`);
      return;
    }
    const others = () => serveOperation(request, response, () => response.writeHead(404).end());
    answer(request.url, response, { metrics, readiness, others }).catch((error: unknown) =>
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
  /** Handles all other paths. */
  others(): void;
}

async function answer(
  url: string | undefined,
  response: ServerResponse,
  { metrics, readiness, others }: Sources,
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
      others();
  }
}
