import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type DeliveriesUnderTest, fcmRequest, startDeliveriesUnderTest } from './deliveries-under-test.js';

type Close = (socket: Socket) => void;

let relay: DeliveriesUnderTest | undefined;
let google: Server | undefined;
afterEach(async () => {
  await relay?.close();
  google?.closeAllConnections();
  await new Promise((resolve) => google?.close(resolve));
});

/** A request to Google: its index on its connection, and whether Google delivered the notification. */
interface Seen {
  readonly requestOnConnection: number;
  readonly isSent: boolean;
}

/**
 * Starts a relay with a Google stand-in that closes each connection at the request with this index, without delivering
 * that notification.
 */
async function startWith(closeAt: number, close: Close, fcmTimeoutMilliseconds = 10_000) {
  const seen: Seen[] = [];
  const counts = new WeakMap<Socket, number>();
  google = createServer((request: IncomingMessage, response) => {
    const { socket } = request;
    const requestOnConnection = (counts.get(socket) ?? 0) + 1;
    counts.set(socket, requestOnConnection);
    request.resume().on('end', () => {
      const isSent = requestOnConnection !== closeAt;
      seen.push({ requestOnConnection, isSent });
      if (isSent) response.writeHead(200, { 'content-type': 'application/json' }).end('{"name":"x"}');
      else close(socket);
    });
  });
  await new Promise<void>((resolve) => google?.listen(0, '127.0.0.1', resolve));
  const { port } = google.address() as AddressInfo;
  const under = await startDeliveriesUnderTest({
    environment: { RELAY_FCM_BASE_URL: `http://127.0.0.1:${port}` },
    timings: { delayDivisor: 1, fcmTimeoutMilliseconds },
  });
  relay = under;
  const id = await under.addFcm('phone');
  const notify = async (more: object) => (await under.notify([fcmRequest(id, more)])).body.results[0];
  return { seen, notify };
}

const closings: readonly [string, Close][] = [
  ['ends the connection', (socket) => socket.end()],
  ['destroys the connection', (socket) => socket.destroy()],
  ['resets the connection', (socket) => socket.resetAndDestroy()],
];

describe('an idle connection to FCM', () => {
  it.each(closings.flatMap(([name, close]) => [0, 3600].map((seconds) => ({ name, close, seconds }))))(
    'is replaced immediately if FCM $name on its next use, with a TTL of $seconds s',
    async ({ close, seconds }) => {
      const { seen, notify } = await startWith(2, close);
      expect(await notify({ ttl_seconds: seconds })).toMatchObject({ status: 'sent' });
      expect(await notify({ ttl_seconds: seconds })).toMatchObject({ status: 'sent' });
      expect(seen).toEqual([
        { requestOnConnection: 1, isSent: true },
        { requestOnConnection: 2, isSent: false },
        { requestOnConnection: 1, isSent: true },
      ]);
    },
  );
});

describe('a request that FCM may have processed', () => {
  it.each(closings)('is queued if FCM %s at the first request of a connection', async (_name, close) => {
    const { seen, notify } = await startWith(1, close);
    expect(await notify({})).toMatchObject({ status: 'queued', reason: 'BROKEN_OFF' });
    expect(seen).toHaveLength(1);
  });

  it('is queued if FCM does not answer in time on a connection that worked', async () => {
    const { seen, notify } = await startWith(2, () => undefined, 300);
    expect(await notify({})).toMatchObject({ status: 'sent' });
    expect(await notify({})).toMatchObject({ status: 'queued', reason: 'TIMED_OUT' });
    expect(seen).toHaveLength(2);
  });

  it.each(closings)('is queued if FCM %s in the middle of its response', async (_name, close) => {
    const answerInPart: Close = (socket) =>
      socket.write('HTTP/1.1 200 O', () => setImmediate(() => close(socket)));
    const { seen, notify } = await startWith(2, answerInPart);
    await notify({});
    expect(await notify({})).toMatchObject({ status: 'queued', reason: 'BROKEN_OFF' });
    expect(seen).toHaveLength(2);
  });
});

describe('a connection for an access token', () => {
  /** Starts a relay with a token endpoint that closes this many connections before it issues tokens. */
  async function startWithTokens(closings: number, close: Close) {
    let tokenRequests = 0;
    google = createServer((request, response) => {
      request.resume().on('end', () => {
        const isToken = request.url === '/token';
        if (isToken) tokenRequests += 1;
        if (isToken && tokenRequests <= closings) return close(request.socket);
        const answer = isToken ? { access_token: 'x', expires_in: 3600 } : { name: 'x' };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      });
    });
    await new Promise<void>((resolve) => google?.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(google.address() as AddressInfo).port}`;
    const under = await startDeliveriesUnderTest({
      environment: { RELAY_FCM_BASE_URL: url },
      timings: { delayDivisor: 1 },
      apps: ({ credentials }) => ({
        fcm: [{ service_account_file: withTokenUri(credentials, `${url}/token`) }],
      }),
    });
    relay = under;
    const id = await under.addFcm('phone');
    const notify = async () => (await under.notify([fcmRequest(id, { ttl_seconds: 0 })])).body.results[0];
    return { notify, count: () => tokenRequests };
  }

  it.each(closings)(
    'is replaced immediately if Google %s, so that no notification is lost',
    async (_name, close) => {
      const { notify, count } = await startWithTokens(1, close);
      expect(await notify()).toMatchObject({ status: 'sent' });
      expect(count()).toBe(2);
    },
  );

  it('is replaced only once if Google keeps closing connections', async () => {
    const { notify, count } = await startWithTokens(9, (socket) => socket.destroy());
    expect(await notify()).toMatchObject({ reason: 'OAUTH_UNAVAILABLE' });
    expect(count()).toBe(2);
  });
});

/** Writes a copy of the service account file with a different token endpoint. Returns its path. */
function withTokenUri(
  { serviceAccountFile }: { readonly serviceAccountFile: string },
  token_uri: string,
): string {
  const account = JSON.parse(readFileSync(serviceAccountFile, 'utf8')) as object;
  const file = `${serviceAccountFile}.other.json`;
  writeFileSync(file, JSON.stringify({ ...account, token_uri }), { mode: 0o600 });
  return file;
}
