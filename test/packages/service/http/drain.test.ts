import { createHttpApp, listen, Readiness } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import { expect, it } from 'vitest';
import { createMemoryLog } from '../../../support/memory-log.js';
import { testOperation } from '../../../support/test-operation.js';
import { RawConnection, request } from './listening-app.js';

// Duration of a drain; long enough for a busy machine.
const drainMilliseconds = 10_000;

it('a draining service is not ready, but serves each connection once more before it stops', async () => {
  const { log } = createMemoryLog();
  const metrics = new Metrics();
  const readiness = new Readiness({}, log);
  const open = testOperation({ method: 'GET', path: '/open', handle: async () => ({ open: true }) });
  const app = await createHttpApp({ log, metrics, readiness, operations: [open] });
  const service = { app, metrics, readiness, close: () => app.close() };
  const { url, ...listening } = await listen(service, {
    host: '127.0.0.1',
    port: 0,
    drainMilliseconds,
    metrics: { kind: 'not-configured' },
  });
  const port = Number(new URL(url).port);
  const kept = await RawConnection.open(port);
  kept.send(request('GET /open'));
  await expect.poll(() => kept.statuses).toEqual([200]);
  expect(kept.text).not.toMatch(/^connection: close/im);

  const beganAt = performance.now();
  const closed = listening.close();
  const ready = await fetch(`${url}/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([503, { ready: false, checks: { process: 'not ok' } }]);
  expect((await fetch(`${url}/health/live`)).status).toBe(200);
  // A new connection and a kept-alive connection are each served once.
  const fresh = await RawConnection.open(port);
  for (const connection of [fresh, kept]) {
    connection.send(request('GET /open'));
    await connection.closed;
    expect(connection.statuses.at(-1)).toBe(200);
    expect(connection.text).toMatch(/^connection: close/im);
  }
  await closed;
  expect(performance.now() - beganAt).toBeGreaterThanOrEqual(drainMilliseconds);
  await expect(RawConnection.open(port)).rejects.toThrow('ECONNREFUSED');
}, 60_000);

it('a service whose process crashed closes immediately', async () => {
  const { log } = createMemoryLog();
  const metrics = new Metrics();
  const readiness = new Readiness({}, log);
  const app = await createHttpApp({ log, metrics, readiness, operations: [] });
  const service = { app, metrics, readiness, close: () => app.close() };
  const listening = await listen(service, {
    host: '127.0.0.1',
    port: 0,
    drainMilliseconds: 60 * 60_000,
    metrics: { kind: 'not-configured' },
  });
  listening.skipDrain();
  await listening.close();
  await expect(fetch(listening.url)).rejects.toThrow();
});

it('a draining service serves connections that the system accepted just before it stops listening', async () => {
  const { log } = createMemoryLog();
  const metrics = new Metrics();
  const readiness = new Readiness({}, log);
  const open = testOperation({ method: 'GET', path: '/open', handle: async () => ({ open: true }) });
  const app = await createHttpApp({ log, metrics, readiness, operations: [open] });
  const service = { app, metrics, readiness, close: () => app.close() };
  const milliseconds = 200;
  const { url, ...listening } = await listen(service, {
    host: '127.0.0.1',
    port: 0,
    drainMilliseconds: milliseconds,
    metrics: { kind: 'not-configured' },
  });
  const until = performance.now() + milliseconds + 50;
  const closed = listening.close();
  const opening = Array.from({ length: 20 }, () => RawConnection.open(Number(new URL(url).port)));
  // Node connects in the next tick. Then the test blocks the event loop until the drain time is over.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  while (performance.now() < until);
  const connections = await Promise.all(opening);
  for (const connection of connections) connection.send(request('GET /open'));
  await Promise.all(connections.map((connection) => connection.closed));
  expect(connections.map(({ statuses }) => statuses)).toEqual(connections.map(() => [200]));
  await closed;
});
