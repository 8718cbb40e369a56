import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeTlsIdentity } from '#vendors/credentials/make-certificate.js';

export type HostAnswering = (request: IncomingMessage, response: ServerResponse) => void;

/** Name in the hosts' certificate. */
export const hostName = 'chat.example.org';

/** Starts two hosts with the same name, certificate and port, at 127.0.0.1 and 127.0.0.2. */
export async function startHosts() {
  const identity = await makeTlsIdentity([hostName]);
  const state = { answer: notFound as HostAnswering };
  const first = await startHost('127.0.0.1', 0);
  const second = await startHost('127.0.0.2', first.port);

  async function startHost(address: string, port: number) {
    const requests: string[] = [];
    const server = createServer(
      { cert: identity.certificate, key: identity.privateKey },
      (request, response) => {
        requests.push(`${request.method} ${request.url}`);
        state.answer(request, response);
      },
    );
    await once(server.listen(port, address), 'listening');
    return { requests, server, port: (server.address() as AddressInfo).port };
  }

  return {
    authority: identity.ca,
    port: first.port,
    hostname: `${hostName}:${first.port}`,
    state,
    /** Requests received by each host. */
    requests: { first: first.requests, second: second.requests },
    /** Open connections of both hosts. */
    async connections(): Promise<number> {
      const counts = [first, second].map(
        ({ server }) =>
          new Promise<number>((resolve) => {
            server.getConnections((_error, count) => resolve(count));
          }),
      );
      return (await Promise.all(counts)).reduce((total, count) => total + count, 0);
    },
    async close(): Promise<void> {
      for (const { server } of [first, second]) {
        server.closeAllConnections();
        await new Promise((resolve) => {
          server.close(resolve);
        });
      }
    },
  };
}

export type Hosts = Awaited<ReturnType<typeof startHosts>>;

/** Returns a handler that responds with JSON. */
export const answering =
  (status: number, body: unknown): HostAnswering =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

const notFound = answering(404, {});
