import { Readable } from 'node:stream';
import { ProtocolError } from '@waxwing/protocol';
import { createHttpApp, type HttpAppOptions, RawAnswer } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createMemoryLog } from '../../../support/memory-log.js';
import { type TestOperation, testOperation } from '../../../support/test-operation.js';

let app: FastifyInstance;
let metrics: Metrics;
let logged: ReturnType<typeof createMemoryLog>;

beforeEach(() => {
  metrics = new Metrics();
  logged = createMemoryLog();
});
afterEach(() => app.close());

async function serve(operation: TestOperation, options: Partial<HttpAppOptions> = {}): Promise<void> {
  const operations = [testOperation(operation)];
  app = await createHttpApp({ log: logged.log, metrics, operations, readiness: {}, ...options });
}

it.each([429, 503] as const)(
  'an actor with too many requests gets the configured status %i',
  async (status) => {
    const ends: (() => void)[] = [];
    const slow: TestOperation = {
      method: 'GET',
      path: '/slow',
      authenticate: async (head) => head.setActor('ada'),
      handle: () => new Promise((resolve) => ends.push(() => resolve({}))),
    };
    await serve(slow, { actorRefusalStatus: status, limits: { maximumRequestsPerActor: 1 } });
    const first = app.inject('/slow');
    await expect.poll(() => ends).toHaveLength(1);
    expect((await app.inject('/slow')).statusCode).toBe(status);
    ends[0]?.();
    expect((await first).statusCode).toBe(200);
  },
);

it.each(['/thing', '/stream', '/health/live', '/health/ready'])(
  'HEAD of %s gets the response of GET without a body, which is not read',
  async (url) => {
    const content = Readable.from(['a', 'b']);
    const operations = [
      testOperation({ method: 'GET', path: '/thing', handle: async () => ({ name: 'ä' }) }),
      testOperation({
        method: 'GET',
        path: '/stream',
        handle: async () => new RawAnswer(200, { 'content-length': '2' }, content),
      }),
    ];
    app = await createHttpApp({ log: logged.log, metrics, operations, readiness: {} });
    const head = await app.inject({ method: 'HEAD', url });
    expect([head.payload, content.destroyed, content.readableDidRead]).toEqual([
      '',
      url === '/stream',
      false,
    ]);
    if (url === '/stream') expect([head.statusCode, head.headers['content-length']]).toEqual([200, '2']);
    else {
      const { headers, statusCode } = await app.inject(url);
      const { date: _, ...told } = headers;
      expect([head.statusCode, head.headers]).toEqual([statusCode, expect.objectContaining(told)]);
    }
  },
);

it('HEAD is refused if there is no GET', async () => {
  await serve({ method: 'POST', path: '/thing', handle: async () => ({}) });
  const { statusCode, headers } = await app.inject({ method: 'HEAD', url: '/thing' });
  expect([statusCode, headers.allow]).toEqual([405, 'POST']);
});

it.each([
  [6000, {}],
  [1234, { closePatienceMilliseconds: 1234 }],
])('closing waits for arriving requests for the configured %i ms', async (milliseconds, options) => {
  await serve({ method: 'GET', path: '/thing', handle: async () => ({}) }, options);
  await app.ready();
  const timers = vi.spyOn(globalThis, 'setTimeout');
  try {
    await app.close();
    expect(timers.mock.calls.map(([, delay]) => delay)).toContain(milliseconds);
  } finally {
    timers.mockRestore();
  }
});

it('Fastify writes no log lines, which would contain query strings', async () => {
  await serve({ method: 'GET', path: '/thing', handle: async () => ({}) });
  expect(app.log.level).toBeUndefined();
});

it('the log has the duration of a request in milliseconds, and the metric in seconds', async () => {
  const busyMilliseconds = 50;
  const keepBusy = async () => {
    const until = performance.now() + busyMilliseconds;
    while (performance.now() < until);
    return {};
  };
  await serve({ method: 'GET', path: '/busy', handle: keepBusy });
  await app.inject('/busy');
  const lines = () => logged.lines().filter(({ operation }) => operation === 'GET /busy');
  await expect.poll(lines).toHaveLength(1);
  const milliseconds = Number(lines()[0]?.milliseconds);
  expect(milliseconds).toBeGreaterThanOrEqual(busyMilliseconds);
  expect(milliseconds).toBe(Math.round(milliseconds * 10) / 10);
  const told = await metrics.text();
  const sum = /^waxwing_http_request_seconds_sum\{operation="GET \/busy",status="200"\} (.*)$/m.exec(
    told,
  )?.[1];
  expect(Math.abs(Number(sum) * 1000 - milliseconds)).toBeLessThan(busyMilliseconds / 2);
});

it('the log contains the reason for a 503 or a reached limit, in at most 200 characters', async () => {
  const ends: (() => void)[] = [];
  const away = Object.assign(new Error(`The database does not answer: ${'x'.repeat(300)}`), {
    code: 'DATABASE_UNAVAILABLE',
    retryAfterSeconds: 5,
  });
  const thrown = [away, new ProtocolError('SERVICE_UNAVAILABLE', { message: 'Try again' })];
  const handle: TestOperation['handle'] = async () => {
    const error = thrown.shift();
    if (error !== undefined) throw error;
    await new Promise<void>((resolve) => ends.push(resolve));
    return {};
  };
  await serve({ method: 'GET', path: '/thing', handle }, { limits: { maximumRequestsInFlight: 1 } });
  await app.inject('/thing');
  await app.inject('/thing');
  const held = app.inject('/thing');
  await expect.poll(() => ends).toHaveLength(1);
  await app.inject('/thing');
  ends[0]?.();
  await held;
  const lines = () => logged.lines().filter(({ operation }) => operation === 'GET /thing');
  await expect.poll(lines).toHaveLength(4);
  const refused = [away.message.slice(0, 200), 'Try again', 'requests', undefined];
  expect(lines().map((line) => line.refused)).toEqual(refused);
  expect(lines()[0]?.status).toBe(503);
});

/** Sends a request to a handler that waits for the client to disconnect, and disconnects. */
async function leave(thrown: (signal: AbortSignal) => unknown): Promise<void> {
  let isHandled = false;
  const handle: TestOperation['handle'] = ({ signal }) =>
    new Promise((_resolve, reject) => {
      isHandled = true;
      signal.addEventListener('abort', () => reject(thrown(signal)));
    });
  await serve({ method: 'GET', path: '/wait', handle });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const leaving = new AbortController();
  const asked = fetch(`${url}/wait`, { signal: leaving.signal });
  await expect.poll(() => isHandled).toBe(true);
  leaving.abort();
  await expect(asked).rejects.toThrow();
  await expect.poll(() => metrics.text()).toMatch(/^waxwing_http_aborted_total 1$/m);
  // The aborted request finishes while the app handles this one.
  await app.inject('/nowhere');
}

const errors = () => logged.lines().filter(({ level }) => level === 'error');

it('a disconnect is not logged as an error', async () => {
  await leave((signal) => signal.reason);
  expect(errors()).toEqual([]);
});

it('a failure after the disconnect is logged as an error', async () => {
  await leave(() => new Error('the disk is on fire'));
  await expect.poll(errors).toHaveLength(1);
});

it('an abort without a disconnect is logged as an error', async () => {
  const handle = () => Promise.reject(new DOMException('Given up', 'AbortError'));
  await serve({ method: 'GET', path: '/thing', handle });
  expect((await app.inject('/thing')).statusCode).toBe(500);
  expect(errors()).toHaveLength(1);
});
