import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newPhone, registerAt } from './stock-devices-of.js';
import type { StockServer } from './stock-server.js';
import { StockWorld } from './stock-world.js';

const hour = 3_600_000;
const ada = { userId: 10, uuid: '5e7c2f6a-3f0f-4f4e-8f0a-0c9a6f1d2b3c' };
let world: StockWorld;
let used = 0;

beforeAll(async () => {
  world = await StockWorld.create();
});
beforeEach(() => world.startRelay());
afterAll(() => world.close());

async function newServer(relayUrl?: string): Promise<StockServer> {
  used += 1;
  return world.stockServer(`chat${used}`, relayUrl === undefined ? {} : { relayUrl });
}

/**
 * A proxy that forwards only the first bytes of each request until it is released. The relay therefore has a request in
 * flight whose body is incomplete.
 */
async function slowProxy() {
  const signals = new EventEmitter();
  const proxy: Server = createServer((near) => {
    const far = connect(Number(new URL(world.relayUrl).port), '127.0.0.1');
    far.pipe(near);
    near.once('data', (head) => {
      far.write(head.subarray(0, 20), () => signals.emit('begun'));
      signals.once('release', () => {
        far.write(head.subarray(20));
        near.pipe(far);
      });
    });
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, signals, proxy };
}

describe('the hourly report of a stock server', () => {
  it('keeps push on for a week, and sends each row to the relay only once', async () => {
    const server = await newServer();
    for (let hours = 1; hours <= 7 * 24; hours += 1) {
      world.time.ahead += hour;
      await server.reportHourly({
        realmCounts: 3 * hours,
        installationCounts: hours,
        auditLogRows: 2 * hours,
      });
      expect([hours, server.isPushOn, server.report.expectedEnd]).toEqual([hours, true, null]);
    }
    expect(server.report.rowsSent).toBe(6 * 7 * 24);
    expect(server.log).toEqual([]);
    await world.startRelay();
    await server.reportHourly({ realmCounts: 5, installationCounts: 0, auditLogRows: 0 });
    expect([server.isPushOn, server.log]).toEqual([true, []]);
  });

  it('keeps push on while the relay refuses requests above its rate limit', async () => {
    await world.startRelay({ RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '1' });
    const server = await newServer();
    for (let hours = 0; hours < 3; hours += 1) await server.reportHourly();
    expect(server.isPushOn).toBe(true);
    const refused = 'WARNING hourly report: server: Received 503 from push notification bouncer';
    expect(server.log).toEqual([refused, refused, refused]);
  });

  it('keeps push on while the relay is overloaded, and succeeds afterwards', async () => {
    const [busy, server] = [await newServer(), await newServer()];
    const device = await registerAt(busy, ada, await newPhone(world, 'fcm'));
    await world.startRelay({
      RELAY_MAXIMUM_REQUESTS_IN_FLIGHT: '1',
      RELAY_MAXIMUM_REQUESTS_PER_SERVER: '1',
    });
    await world.setFaults([{ vendor: 'fcm', token: device.phone.token, latency_ms: 1000 }]);
    const test = busy.testNotification(ada);
    await expect.poll(() => inFlight()).toBe(1);
    await server.reportHourly();
    expect([server.isPushOn, server.log]).toEqual([
      true,
      ['WARNING hourly report: server: Received 503 from push notification bouncer'],
    ]);
    expect((await test).status).toBe(200);
    await world.setFaults([]);
    await server.reportHourly();
    expect(server.log).toHaveLength(1);
  });

  it('keeps push on when it arrives during the relay’s shutdown', async () => {
    const slow = await slowProxy();
    const server = await newServer(slow.url);
    const begun = once(slow.signals, 'begun');
    const reporting = server.reportHourly();
    await begun;
    const closing = world.stopRelay();
    await expect.poll(isListening).toBe(false);
    slow.signals.emit('release');
    await Promise.all([reporting, closing]);
    slow.proxy.close();
    expect([server.isPushOn, server.log]).toEqual([
      true,
      ['WARNING hourly report: server: Received 503 from push notification bouncer'],
    ]);
  });

  it('switches push on again after an outage of the relay', async () => {
    const server = await newServer();
    await world.stopRelay();
    await server.reportHourly();
    expect(server.isPushOn).toBe(false);
    await world.startRelay();
    await server.reportHourly();
    expect(server.isPushOn).toBe(true);
  });
});

async function inFlight(): Promise<number> {
  const text = await world.relay.metrics.text();
  return Number(/^waxwing_http_requests_in_flight (\d+)/m.exec(text)?.[1]);
}

async function isListening(): Promise<boolean> {
  const probe = connect(Number(new URL(world.relayUrl).port), '127.0.0.1');
  const opened = await new Promise<boolean>((resolve) => {
    probe.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
  probe.destroy();
  return opened;
}
