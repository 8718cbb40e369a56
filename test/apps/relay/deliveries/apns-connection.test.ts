import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  sensitiveHeaders,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { productionTimings } from '#relay/deliveries/delivery-timings.js';
import { ApnsConnection } from '#relay/deliveries/vendors/apns/connection.js';
import { type ApnsEnding, ApnsExchange } from '#relay/deliveries/vendors/apns/exchange.js';
import { type ApnsNotification, buildApnsNotification } from '#relay/deliveries/vendors/apns/message.js';
import { realmId, relayDeviceId } from '../../../support/ids.js';
import { notification, target } from './apns-sample.js';
import { until } from './deliveries-under-test.js';

const time = { now: 1_000_000 };
const timings = { ...productionTimings.apns, requestTimeoutMilliseconds: 200, pingTimeoutMilliseconds: 200 };
const pingAfter = timings.pingAfterIdleMilliseconds;
let peer: Http2Server;
let sessions: ServerHttp2Session[] = [];
const sockets: Socket[] = [];
let connection: ApnsConnection | undefined;
let events: string[] = [];

/** Node's internal handle of a socket. Only the handle can make a peer stop reading. */
interface SocketWithHandle {
  readonly _handle: { readStop(): void };
}

// Starts a minimal peer without TLS, because the tests cover only the behavior of the connection.
beforeEach(async () => {
  sessions = [];
  events = [];
  peer = createServer({ settings: { maxConcurrentStreams: 5 } });
  peer.on('connection', (socket: Socket) => void sockets.push(socket));
  peer.on('session', (session) => {
    sessions.push(session);
    session.on('ping', () => events.push('pinged'));
    session.on('error', () => undefined);
  });
  peer.on('stream', (stream) => stream.on('error', () => undefined));
  await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  connection?.destroy();
  for (const session of sessions) session.destroy();
  await new Promise((resolve) => peer.close(resolve));
});

async function connect(): Promise<ApnsConnection> {
  const heard = events;
  connection = new ApnsConnection({
    url: `http://127.0.0.1:${(peer.address() as AddressInfo).port}`,
    ca: undefined,
    timings,
    clock: () => time.now,
    onEnded: (exchange, ending) => waiting.get(exchange)?.(ending),
    onRoom: () => (timesRoomWasTold += 1),
    onRetired: () => heard.push('retired'),
    onClosed: () => heard.push('closed'),
  });
  await until(() => (connection as ApnsConnection).room > 0);
  return connection;
}

let timesRoomWasTold = 0;
const waiting = new Map<ApnsExchange, (ending: ApnsEnding) => void>();

function send(
  over: ApnsConnection,
  notification: ApnsNotification = { path: '/3/device/00', headers: {}, body: '{}' },
): Promise<ApnsEnding> {
  return new Promise((resolve) => {
    const request = { notification, authorization: 'bearer x', notAfter: Number.POSITIVE_INFINITY };
    const exchange = new ApnsExchange(request, () => undefined);
    waiting.set(exchange, resolve);
    over.send(exchange);
  });
}

describe('a connection to APNs', () => {
  it('accepts one request until APNs has answered, then as many as the peer allows', async () => {
    const answers: (() => void)[] = [];
    peer.on('stream', (stream) =>
      answers.push(() => stream.respond({ ':status': 200 }, { endStream: true })),
    );
    const over = await connect();
    expect(over.room).toBe(1);
    const first = send(over);
    expect(over.room).toBe(0);
    await until(() => answers.length === 1);
    answers[0]?.();
    expect(await first).toMatchObject({ kind: 'answered', httpStatus: 200 });
    await until(() => over.room === 5);
    const others = [send(over), send(over)];
    expect(over.room).toBe(3);
    await until(() => answers.length === 3);
    for (const answer of answers.slice(1)) answer();
    await Promise.all(others);
  });

  it('is pinged after a long idle time, and stays open if the peer acknowledges the ping', async () => {
    const over = await connect();
    expect(events).toEqual([]);
    const toldBefore = timesRoomWasTold;
    time.now += pingAfter + 1;
    await until(() => events.includes('pinged'));
    // The connection calls `onRoom` when the peer has acknowledged the ping.
    await until(() => timesRoomWasTold > toldBefore);
    expect(over.room).toBe(1);
    time.now += timings.pingTimeoutMilliseconds + 1;
    expect(events).toEqual(['pinged']);
    time.now += pingAfter;
    await until(() => events.filter((event) => event === 'pinged').length === 2);
    expect(events).not.toContain('closed');
  });

  it('is closed if the peer does not acknowledge a ping', async () => {
    await connect();
    // The socket stays open, but the peer no longer reads it.
    for (const { socket } of sessions) (socket as unknown as SocketWithHandle)._handle.readStop();
    time.now += pingAfter + 1;
    await new Promise((resolve) => setImmediate(resolve));
    await until(() => {
      time.now += timings.pingTimeoutMilliseconds;
      return events.includes('closed');
    });
  });

  it('accepts no further requests after a timeout, until the peer acknowledges a ping', async () => {
    const given: (number | undefined)[] = [];
    peer.on('stream', (stream) => stream.on('close', () => given.push(stream.rstCode)));
    const over = await connect();
    const ending = send(over);
    time.now += timings.requestTimeoutMilliseconds;
    expect(await ending).toEqual({ kind: 'unanswered', why: 'TIMED_OUT' });
    await until(() => events.includes('pinged'));
    await until(() => over.room === 1);
    // The relay cancels the stream, so that the peer does no useless work.
    await until(() => given.includes(constants.NGHTTP2_CANCEL));
  });

  it('keeps unique header values out of the HPACK table', async () => {
    let headers: IncomingHttpHeaders = {};
    peer.on('stream', (stream, received) => {
      headers = received;
      stream.respond({ ':status': 200 }, { endStream: true });
    });
    const device = {
      id: relayDeviceId(1),
      realmId: realmId(1),
      registeredAt: 0,
      expiredAt: undefined,
      target,
    };
    await send(
      await connect(),
      buildApnsNotification({ device, notification }, { hasFilteringEntitlement: false }),
    );
    expect(headers).toMatchObject({
      'apns-topic': 'org.example.App',
      'apns-collapse-id': expect.any(String),
    });
    expect((headers as Record<symbol, string[]>)[sensitiveHeaders]?.sort()).toEqual([
      'apns-collapse-id',
      'apns-expiration',
      'apns-id',
      'authorization',
    ]);
  });

  it.each([
    ['the end of the connection', () => sockets.at(-1)?.end()],
    ['a destroyed connection', () => sockets.at(-1)?.destroy()],
    ['a reset connection', () => sockets.at(-1)?.resetAndDestroy()],
  ])('treats a refusal that is cut off by %s as no response', async (_name, cut) => {
    peer.on('stream', (stream) => {
      stream.respond({ ':status': 410 });
      stream.write('{"reason":"Unreg');
      // The relay acknowledges the ping after it has received everything that was written before the ping.
      stream.session?.ping(cut);
    });
    expect(await send(await connect())).toEqual({ kind: 'unanswered', why: 'BROKEN_OFF' });
  });

  it('reports requests in flight as broken off when the peer closes the connection', async () => {
    peer.on('stream', () => sessions[0]?.destroy());
    const over = await connect();
    expect(await send(over)).toMatchObject({ kind: 'unanswered', why: 'BROKEN_OFF' });
    await until(() => events.includes('closed'));
    expect(over.room).toBe(0);
  });

  it.each([
    ['no error', constants.NGHTTP2_NO_ERROR],
    ['an error', constants.NGHTTP2_ENHANCE_YOUR_CALM],
  ])('waits for streams that the peer may still answer after a GOAWAY with %s', async (_name, code) => {
    const streams: ServerHttp2Stream[] = [];
    peer.on('stream', (stream) => {
      if (stream.id === 1) stream.respond({ ':status': 200 }, { endStream: true });
      else streams.push(stream);
    });
    const over = await connect();
    await send(over);
    await until(() => over.room === 5);
    const endings = [send(over), send(over), send(over), send(over)];
    await until(() => streams.length === 4);
    const [first, second] = streams;
    sessions[0]?.goaway(code, second?.id);
    for (const ending of endings.slice(2)) {
      expect(await ending).toEqual({ kind: 'not-processed', because: 'connection-ended' });
    }
    expect(events).toEqual(['retired']);
    expect(over.room).toBe(0);
    first?.respond({ ':status': 200 }, { endStream: true });
    second?.respond({ ':status': 410 });
    second?.end('{"reason":"Unregistered"}');
    expect(await Promise.all(endings.slice(0, 2))).toMatchObject([
      { kind: 'answered', httpStatus: 200 },
      { kind: 'answered', httpStatus: 410, body: '{"reason":"Unregistered"}' },
    ]);
  });

  it('reports streams as broken off if the peer closes the connection after a GOAWAY with an error', async () => {
    peer.on('stream', (stream) => {
      if (stream.id === 1) stream.respond({ ':status': 200 }, { endStream: true });
      else stream.session?.goaway(constants.NGHTTP2_INTERNAL_ERROR, stream.id);
    });
    const over = await connect();
    await send(over);
    await until(() => over.room > 0);
    const ending = send(over);
    await until(() => events.includes('retired'));
    sockets.at(-1)?.destroy();
    expect(await ending).toEqual({ kind: 'unanswered', why: 'BROKEN_OFF' });
  });
});

describe('a connection to APNs that the peer closes', () => {
  const closings: [string, () => void][] = [
    ['ended', () => sockets.at(-1)?.end()],
    ['destroyed', () => sockets.at(-1)?.destroy()],
    ['reset', () => sockets.at(-1)?.resetAndDestroy()],
  ];

  /** Returns an idle connection that has delivered once. The peer passes each later stream to `handle`. */
  async function idleConnection(handle: (stream: ServerHttp2Stream) => void): Promise<ApnsConnection> {
    peer.on('stream', (stream) => {
      if (stream.id === 1) stream.respond({ ':status': 200 }, { endStream: true });
      else handle(stream);
    });
    const over = await connect();
    await send(over);
    await until(() => over.room === 5);
    return over;
  }

  it.each(closings)('reports requests as not processed if it was idle and is %s', async (_name, close) => {
    const over = await idleConnection(close);
    const endings = await Promise.all([send(over), send(over), send(over)]);
    expect(endings).toEqual(Array(3).fill({ kind: 'not-processed', because: 'connection-ended' }));
  });

  it.each(closings)(
    'reports requests as broken off if it is %s between two responses',
    async (_name, close) => {
      const over = await idleConnection((stream) => {
        // The relay acknowledges the ping after it has received this response.
        if (stream.id === 5) {
          stream.respond({ ':status': 200 }, { endStream: true });
          stream.session?.ping(close);
        }
      });
      const [first, second] = [send(over), send(over)];
      expect(await second).toMatchObject({ kind: 'answered' });
      expect(await first).toEqual({ kind: 'unanswered', why: 'BROKEN_OFF' });
    },
  );

  it('reports a single stream that the peer resets as broken off', async () => {
    const over = await idleConnection((stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
    expect(await send(over)).toEqual({ kind: 'unanswered', why: 'BROKEN_OFF' });
  });
});
