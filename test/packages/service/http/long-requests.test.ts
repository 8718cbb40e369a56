import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createHttpApp } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import { describe, expect, it, vi } from 'vitest';
import { closing } from '../../../support/closing.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { testOperation } from '../../../support/test-operation.js';

const logged = createMemoryLog();

describe('a service with slow checks or requests', () => {
  it('waits three seconds for all checks, and names the checks that did not respond', async () => {
    const asked: string[] = [];
    const silent = (name: string) => () => {
      asked.push(name);
      return new Promise<undefined>(() => undefined);
    };
    const silentApp = await createHttpApp({
      log: logged.log,
      metrics: new Metrics(),
      operations: [],
      readiness: { one: silent('one'), two: silent('two'), three: async () => undefined },
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const answer = silentApp.inject('/health/ready').then((response) => response.json());
      await expect.poll(() => asked).toEqual(['one', 'two']);
      await vi.advanceTimersByTimeAsync(3000);
      expect(await answer).toEqual({ ready: false, checks: { one: 'not ok', two: 'not ok', three: 'ok' } });
      expect(logged.text()).toContain('not ready: no answer within 3 seconds');
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
      await silentApp.close();
    }
  });

  it('refuses requests above its limit with Retry-After, and accepts them again later', async () => {
    const releases: (() => void)[] = [];
    const slow = testOperation({
      method: 'GET',
      path: '/slow',
      handle: () => new Promise((resolve) => releases.push(() => resolve({}))),
    });
    const options = {
      log: logged.log,
      metrics: new Metrics(),
      operations: [slow],
      readiness: {},
      limits: { maximumRequestsInFlight: 1 },
    };
    const small = await createHttpApp(options);
    try {
      const first = small.inject('/slow');
      await expect.poll(() => releases).toHaveLength(1);
      const second = await small.inject('/slow');
      expect([second.statusCode, second.headers['retry-after']]).toEqual([503, '1']);
      releases[0]?.();
      expect((await first).statusCode).toBe(200);
      const third = small.inject('/slow');
      await expect.poll(() => releases).toHaveLength(2);
      releases[1]?.();
      expect((await third).statusCode).toBe(200);
    } finally {
      await small.close();
    }
  });

  it('does not handle a request whose client disconnects during authentication', async () => {
    const authenticated: (() => void)[] = [];
    const handled: string[] = [];
    const slow = testOperation({
      method: 'POST',
      path: '/slow',
      authenticate: () =>
        new Promise((resolve) => {
          authenticated.push(() => resolve({}));
        }),
      handle: async () => ({ count: handled.push('slow') }),
    });
    const metrics = new Metrics();
    const app = await createHttpApp({ log: logged.log, metrics, operations: [slow], readiness: {} });
    try {
      await app.listen({ host: '127.0.0.1', port: 0 });
      const { port } = app.server.address() as AddressInfo;
      const client = connect(port, '127.0.0.1');
      client.write('POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
      await expect.poll(() => authenticated).toHaveLength(1);
      client.destroy();
      await expect.poll(() => metrics.text()).toContain('waxwing_http_connections 0');
      authenticated[0]?.();
      await new Promise(setImmediate);
      expect(handled).toEqual([]);
      expect(logged.text()).not.toContain('unexpected error');
    } finally {
      await app.close();
    }
  });

  it('ends long requests when the service closes', async () => {
    let isHandled = false;
    const waiting = testOperation({
      method: 'GET',
      path: '/wait',
      handle: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ ended: true }));
          isHandled = true;
        }),
    });
    const options = { log: logged.log, metrics: new Metrics(), operations: [waiting], readiness: {} };
    const polling = await createHttpApp(options);
    const url = await polling.listen({ host: '127.0.0.1', port: 0 });
    const response = fetch(`${url}/wait`);
    await expect.poll(() => isHandled).toBe(true);
    await polling.close();
    expect(await (await response).json()).toMatchObject({ ended: true });
  });

  it.each([
    ['head', 'POST /half HTTP/1.1\r\nhost: x\r\n'],
    ['body', 'POST /half HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf'],
  ])(
    'does not wait for long for the rest of a %s when it closes',
    async (_part, text) => {
      const half = testOperation({ method: 'POST', path: '/half', handle: async () => ({}) });
      const options = { log: logged.log, metrics: new Metrics(), operations: [half], readiness: {} };
      const slow = await createHttpApp({ ...options, closePatienceMilliseconds: 20 });
      await slow.listen({ host: '127.0.0.1', port: 0 });
      const socket = connect((slow.server.address() as AddressInfo).port, '127.0.0.1');
      // Reads from the socket, because the server sends a response when it refuses the partial head.
      const gone = closing(socket.resume());
      socket.write(text);
      const [connection] = (await once(slow.server, 'connection')) as [Socket];
      await expect.poll(() => connection.bytesRead).toBe(text.length);
      await slow.close();
      await gone;
    },
    10_000,
  );
});
