import {
  constants,
  createServer,
  type Http2Server,
  type Http2Session,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { productionTimings } from '#relay/deliveries/delivery-timings.js';
import type { ApnsTimings } from '#relay/deliveries/vendors/apns/connection.js';
import type { ApnsResult } from '#relay/deliveries/vendors/apns/exchange.js';
import { ApnsPool } from '#relay/deliveries/vendors/apns/pool.js';
import { ReachLog } from '#relay/deliveries/vendors/reach-log.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { until } from './deliveries-under-test.js';

const time = { now: 1_000_000 };
const timings = {
  ...productionTimings.apns,
  requestTimeoutMilliseconds: 200,
  pingTimeoutMilliseconds: 200,
};
const { log, text } = createMemoryLog();
let peer: Http2Server;
let sessions: ServerHttp2Session[] = [];
let pool: ApnsPool;

/** Node's internal handle of a socket. Only the handle can make a peer stop reading. */
interface SocketWithHandle {
  readonly _handle: { readStop(): void };
}

/** Returns the base class of client and server sessions, which Node does not export. */
function http2SessionOf(session: ServerHttp2Session | undefined): Http2Session {
  return Object.getPrototypeOf(Object.getPrototypeOf(session));
}

/** Starts a minimal peer without TLS, which allows this many concurrent streams, and a pool that connects to it. */
async function listen(maxConcurrentStreams: number, more: Partial<ApnsTimings> = {}): Promise<void> {
  peer = createServer({ settings: { maxConcurrentStreams } });
  peer.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => undefined);
  });
  peer.on('stream', (stream) => stream.on('error', () => undefined));
  await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(peer.address() as AddressInfo).port}`;
  pool = new ApnsPool({
    url,
    ca: undefined,
    clock: () => time.now,
    timings: { ...timings, ...more },
    maximumConnections: 2,
    maximumWaiting: 50,
    reach: new ReachLog(log, url, 'RELAY_CA_FILE'),
  });
}

beforeEach(async () => {
  sessions = [];
  await listen(2);
});
afterEach(close);

async function close(): Promise<void> {
  await pool.close(0);
  for (const session of sessions) session.destroy();
  await new Promise((resolve) => peer.close(resolve));
}

function send(notAfter = Number.POSITIVE_INFINITY): Promise<ApnsResult> {
  const notification = { path: '/3/device/00', headers: {}, body: '{}' };
  return pool.send({ notification, authorization: 'bearer x', notAfter });
}

function sendMany(count: number): Promise<ApnsResult[]> {
  return Promise.all(Array.from({ length: count }, () => send()));
}

describe('the connections to APNs', () => {
  it('fail only the requests in flight, not the queued requests, when they break', async () => {
    let streams = 0;
    peer.on('stream', (stream) => {
      streams += 1;
      if (streams % 5 === 0) stream.session?.destroy();
      else stream.respond({ ':status': 200 }, { endStream: true });
    });
    const results = await sendMany(40);
    const sent = results.filter(({ kind }) => kind === 'answered').length;
    expect(sent).toBeGreaterThanOrEqual(20);
    const reasons = results.flatMap((result) => (result.kind === 'unanswered' ? [result.why] : []));
    expect(new Set(reasons)).toEqual(new Set(['BROKEN_OFF']));
  });

  it('are replaced immediately if the peer closes them on their next use', async () => {
    let streams = 0;
    const sockets: Socket[] = [];
    peer.on('connection', (socket: Socket) => void sockets.push(socket));
    peer.on('stream', (stream) => {
      streams += 1;
      if (streams === 2) sockets[0]?.destroy();
      else stream.respond({ ':status': 200 }, { endStream: true });
    });
    expect(await send()).toMatchObject({ kind: 'answered' });
    expect(await sendMany(3)).toMatchObject(Array(3).fill({ kind: 'answered', httpStatus: 200 }));
    expect(sessions).toHaveLength(2);
  });

  it('get no further requests once the pool has dropped them for an unacknowledged ping', async () => {
    // 100 streams are enough for all requests, so requests that wait for the second connection must not open a third.
    await close();
    await listen(100);
    peer.on('stream', (stream) => stream.respond({ ':status': 200 }, { endStream: true }));
    expect(await send()).toMatchObject({ kind: 'answered' });
    for (const { socket } of sessions) (socket as unknown as SocketWithHandle)._handle.readStop();
    const ping = vi.spyOn(http2SessionOf(sessions[0]), 'ping');
    time.now += timings.pingAfterIdleMilliseconds + 1;
    // One sweep sends the ping, and the next sweep drops the connection.
    await until(() => ping.mock.calls.length > 0);
    ping.mockRestore();
    time.now += timings.pingTimeoutMilliseconds;
    const answers: Promise<ApnsResult>[] = [];
    await until(() => {
      answers.push(send());
      return answers.length >= 20;
    });
    // Requests sent before the drop were in flight on the first connection. Later requests used a new connection.
    const kinds = (await Promise.all(answers)).map(({ kind }) => kind);
    expect(kinds).toContain('answered');
    expect(kinds.indexOf('answered')).toBeGreaterThan(kinds.lastIndexOf('unanswered'));
    expect(sessions).toHaveLength(2);
  });

  it('are closed after the connect timeout if they allow no streams', async () => {
    await close();
    await listen(0, { connectTimeoutMilliseconds: 500 });
    expect(await send()).toEqual({ kind: 'unanswered', why: 'NOT_CONNECTED' });
    expect(text()).toContain('cannot be reached: it does not answer');
  });

  it('are not reopened endlessly if they break before their first response', async () => {
    peer.on('stream', (stream) => stream.session?.destroy());
    const reasons = (await sendMany(20)).map((result) => result.kind === 'unanswered' && result.why);
    expect(reasons.filter((why) => why === 'NOT_CONNECTED').length).toBeGreaterThan(10);
    expect(sessions.length).toBeLessThan(5);
    // After the backoff the pool connects again.
    time.now += 60_000;
    peer.removeAllListeners('stream');
    peer.on('stream', (stream) => stream.respond({ ':status': 200 }, { endStream: true }));
    expect(await send()).toMatchObject({ kind: 'answered' });
  });

  it('resend a request only three times if APNs keeps refusing its stream', async () => {
    let streams = 0;
    peer.on('stream', (stream) => {
      streams += 1;
      if (streams === 1) stream.respond({ ':status': 200 }, { endStream: true });
      else stream.close(constants.NGHTTP2_REFUSED_STREAM);
    });
    await send();
    expect(await send()).toEqual({ kind: 'unanswered', why: 'NOT_PROCESSED' });
    expect(streams).toBe(5);
  });

  it('never exceed the maximum, and open one at a time', async () => {
    const answers: (() => void)[] = [];
    peer.on('stream', (stream) =>
      answers.push(() => stream.respond({ ':status': 200 }, { endStream: true })),
    );
    const all = sendMany(30);
    await until(() => answers.length === 1);
    expect(pool.connections).toBe(1);
    answers.shift()?.();
    // The first connection has two requests in flight, which is its limit, and the second has one.
    await until(() => answers.length === 3);
    expect(pool.connections).toBe(2);
    await until(() => {
      answers.shift()?.();
      return pool.waiting === 0 && answers.length === 0;
    });
    await all;
    expect(sessions).toHaveLength(2);
  });

  it('finish their requests in flight and accept no others during shutdown', async () => {
    const answers: (() => void)[] = [];
    peer.on('stream', (stream) =>
      answers.push(() => stream.respond({ ':status': 200 }, { endStream: true })),
    );
    const last = send();
    await until(() => answers.length === 1);
    const closed = pool.close(10_000);
    expect(await send()).toEqual({ kind: 'unanswered', why: 'OVERLOADED' });
    answers[0]?.();
    expect(await last).toMatchObject({ kind: 'answered' });
    await closed;
    await until(() => pool.connections === 0);
  });

  it('queue a bounded number of requests, for a bounded time', async () => {
    const answers: (() => void)[] = [];
    peer.on('stream', (stream) =>
      answers.push(() => stream.respond({ ':status': 200 }, { endStream: true })),
    );
    const first = send();
    await until(() => answers.length === 1);
    const waiting = Array.from({ length: 50 }, () => send(time.now + 10));
    expect(pool.waiting).toBe(50);
    expect(await send()).toEqual({ kind: 'unanswered', why: 'OVERLOADED' });
    time.now += 11;
    answers[0]?.();
    expect(await first).toMatchObject({ kind: 'answered' });
    for (const result of await Promise.all(waiting)) {
      expect(result).toEqual({ kind: 'unanswered', why: 'OVERLOADED' });
    }
    expect(answers).toHaveLength(1);
  });

  it('are closed after a Shutdown response, even if APNs never closes them', async () => {
    peer.on('stream', (stream) => {
      stream.respond({ ':status': 503 });
      stream.end(JSON.stringify({ reason: 'Shutdown' }), () => {
        for (const { socket } of sessions) (socket as unknown as SocketWithHandle)._handle.readStop();
      });
    });
    expect(await send()).toMatchObject({ kind: 'answered', httpStatus: 503 });
    await until(() => {
      time.now += timings.requestTimeoutMilliseconds;
      return pool.connections === 0;
    });
  });
});
