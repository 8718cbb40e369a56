import { createServer } from 'node:net';
import { join } from 'node:path';
import { startVendors } from '@waxwing/vendors';
import { afterEach, describe, expect, it } from 'vitest';
import { productionTimings } from '#relay/deliveries/delivery-timings.js';
import { freePort } from '../../../support/free-ports.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  fcmRequest,
  startDeliveriesUnderTest,
  type UnderTestOptions,
  until,
} from './deliveries-under-test.js';

let relay: DeliveriesUnderTest | undefined;
afterEach(async () => {
  await relay?.close();
  relay = undefined;
});

async function start(options: UnderTestOptions = {}): Promise<DeliveriesUnderTest> {
  relay = await startDeliveriesUnderTest({ ...options, timings: { ...patient, ...options.timings } });
  return relay;
}

/** Long budget, so that results do not depend on the machine's speed. */
const patient = { requestBudgetMilliseconds: 50_000 };
const impatient = { apns: { ...productionTimings.apns, requestTimeoutMilliseconds: 300 } };

/**
 * Sends one notification to each of `count` new phones. Returns the number of results per status, the number of phones
 * that were reached, and the maximum number of arrivals at one phone.
 */
async function sendToMany(count: number, { vendor = 'apns' }: { vendor?: 'fcm' | 'apns' } = {}) {
  const under = relay as DeliveriesUnderTest;
  const ids: number[] = [];
  for (let index = 0; index < count; index += 1) {
    ids.push(vendor === 'apns' ? await under.addApns(apnsToken(index)) : await under.addFcm(`fcm-${index}`));
  }
  const { body } = await under.notify(
    ids.map((id) => (vendor === 'apns' ? apnsRequest(id) : fcmRequest(id))),
  );
  const queued = body.results.filter(({ status }) => status === 'queued');
  const statuses = new Map<string, number>();
  for (const { status } of body.results) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  for (const { notification_id } of queued)
    expect(await under.settled(notification_id)).toMatchObject({ status: 'sent' });
  const arrivals = new Map<string, number>();
  for (const { token } of await under.arrived()) arrivals.set(token, (arrivals.get(token) ?? 0) + 1);
  return {
    statuses: Object.fromEntries(statuses),
    reached: arrivals.size,
    most: Math.max(0, ...arrivals.values()),
  };
}

async function firedFaults(): Promise<readonly number[]> {
  const { faults_fired: fired } = await (relay as DeliveriesUnderTest).statistics();
  return fired;
}

describe('delivery over APNs', () => {
  it.each([
    ['with a reason', { goaway_every: 40 }],
    ['without a reason', { goaway_every: 40, goaway_json: false }],
  ])('a GOAWAY %s every 40 streams causes no loss and no duplicates', async (_name, rule) => {
    const { faults } = await start();
    await faults([
      { vendor: 'apns', latency_ms: 5 },
      { vendor: 'apns', ...rule },
    ]);
    expect(await sendToMany(400)).toEqual({ statuses: { sent: 400 }, reached: 400, most: 1 });
    const { apns } = await (relay as DeliveriesUnderTest).statistics();
    expect(apns.production.connections).toBeGreaterThanOrEqual(10);
  });

  it('a GOAWAY with an error every 40 streams causes no loss and no duplicates', async () => {
    const { faults } = await start();
    await faults([
      { vendor: 'apns', latency_ms: 5 },
      { vendor: 'apns', goaway_every: 40, goaway_code: 11 },
    ]);
    expect(await sendToMany(400)).toEqual({ statuses: { sent: 400 }, reached: 400, most: 1 });
  });

  it('a refused stream is resent without duplicates', async () => {
    const { faults } = await start();
    await faults([{ vendor: 'apns', reset: 'before', rate: 0.2 }], 1);
    const { statuses, ...arrivals } = await sendToMany(300);
    expect(arrivals).toEqual({ reached: 300, most: 1 });
    // Only notifications that were refused four times remain queued.
    expect(statuses.sent).toBeGreaterThan(290);
  });

  it('a stream that is reset after processing is queued, because its outcome is unknown', async () => {
    const { faults } = await start();
    await faults([{ vendor: 'apns', token: apnsToken(0), reset: 'after', times: 1 }]);
    expect(await sendToMany(2)).toEqual({ statuses: { queued: 1, sent: 1 }, reached: 2, most: 2 });
  });

  it('opens more connections when the allowed streams are in use', async () => {
    const { faults, statistics } = await start();
    await faults([{ vendor: 'apns', max_concurrent_streams: 3, latency_ms: 20 }]);
    expect(await sendToMany(100)).toMatchObject({ statuses: { sent: 100 }, most: 1 });
    const { apns } = await statistics();
    expect(apns.production.connections).toBeGreaterThan(1);
    expect(apns.production.connections).toBeLessThanOrEqual(8);
    expect(Object.keys(apns.production.answers)).toEqual(['200']);
  });

  it('reuses the connection and the provider token', async () => {
    const { notify, addApns, statistics } = await start();
    const id = await addApns(apnsToken());
    for (let round = 0; round < 20; round += 1) await notify([apnsRequest(id)]);
    const { apns } = await statistics();
    expect(apns).toMatchObject({ production: { connections: 1 }, provider_tokens_accepted: 1 });
  });

  it.each(['Shutdown', 'IdleTimeout', 'UnrelatedKeyIdInToken'])(
    'switches to a new connection immediately after %s',
    async (reason) => {
      const { notify, addApns, faults, statistics } = await start();
      const id = await addApns(apnsToken());
      await notify([apnsRequest(id)]);
      await faults([{ vendor: 'apns', reason, times: 1 }]);
      expect((await notify([apnsRequest(id)])).body.results).toEqual([{ status: 'sent' }]);
      const { apns } = await statistics();
      expect(apns.production.connections).toBe(2);
    },
  );

  it('immediately replaces a provider token that APNs rejects as too old', async () => {
    const time = { now: Date.UTC(2026, 0, 5, 12) };
    const { notify, addApns, faults, statistics } = await start({ clock: () => time.now });
    const id = await addApns(apnsToken());
    await notify([apnsRequest(id)]);
    time.now += 21 * 60_000;
    await faults([{ vendor: 'apns', reason: 'ExpiredProviderToken', times: 1 }]);
    expect((await notify([apnsRequest(id)])).body.results).toEqual([{ status: 'sent' }]);
    expect(await statistics()).toMatchObject({ apns: { provider_tokens_accepted: 2 } });
  });

  it('replaces a connection that has become silent', async () => {
    const time = { ahead: 0 };
    const { notify, addApns, faults, settled, statistics } = await start({
      clock: () => Date.now() + time.ahead,
      timings: { apns: { ...productionTimings.apns, pingTimeoutMilliseconds: 1000 } },
    });
    const id = await addApns(apnsToken());
    await notify([apnsRequest(id)]);
    await faults([{ vendor: 'apns', half_open: true, times: 1 }]);
    const answer = notify([apnsRequest(id)]);
    await until(async () => (await firedFaults())[0] === 1);
    time.ahead += productionTimings.apns.requestTimeoutMilliseconds;
    const { body } = await answer;
    expect(body.results[0]).toMatchObject({ status: 'queued', reason: 'TIMED_OUT' });
    expect(await settled(body.results[0]?.notification_id)).toMatchObject({ status: 'sent' });
    const { apns } = await statistics();
    expect(apns.production.connections).toBe(2);
  });

  it('rejects a notification that has timed out three times', async () => {
    const { notify, addApns, faults, settled } = await start({ timings: impatient });
    const id = await addApns(apnsToken());
    await faults([{ vendor: 'apns', latency_ms: 2000 }]);
    const { body } = await notify([apnsRequest(id)]);
    const receipt = await settled(body.results[0]?.notification_id);
    expect(receipt).toMatchObject({ status: 'rejected', reason: 'TIMED_OUT', fault: 'vendor', attempts: 3 });
  });

  it('does not count refusals as attempts with an unknown outcome', async () => {
    const { notify, addApns, faults, settled } = await start();
    const id = await addApns(apnsToken());
    await faults([
      { vendor: 'apns', status: 503, times: 3 },
      { vendor: 'apns', reset: 'after', times: 2 },
    ]);
    const { body } = await notify([apnsRequest(id)]);
    const receipt = await settled(body.results[0]?.notification_id);
    expect(receipt).toMatchObject({ status: 'sent', attempts: 6 });
  });

  it('queues notifications while APNs is unreachable', async () => {
    const port = await freePort();
    const { notify, addApns, dir, settled, log } = await start({
      environment: { RELAY_APNS_PRODUCTION_URL: `https://127.0.0.1:${port}` },
    });
    const id = await addApns(apnsToken());
    const { body } = await notify([apnsRequest(id)]);
    expect(body.results[0]).toMatchObject({ status: 'queued', reason: 'NOT_CONNECTED' });
    expect(log.text()).toMatch(new RegExp(`https://127.0.0.1:${port} cannot be reached: .*ECONNREFUSED`));
    const back = await startVendors({ dataDir: join(dir, 'vendors'), apnsProductionPort: port });
    try {
      expect(await settled(body.results[0]?.notification_id)).toMatchObject({ status: 'sent' });
      expect(log.text()).toContain(`https://127.0.0.1:${port} can be reached again`);
    } finally {
      await back.close();
    }
  });
});

describe('delivery over FCM', () => {
  it('resends without duplicates after connection resets before processing', async () => {
    const { faults } = await start();
    await faults([{ vendor: 'fcm', reset: 'before', times: 20 }]);
    expect(await sendToMany(200, { vendor: 'fcm' })).toMatchObject({ reached: 200, most: 1 });
  });

  it('retries a failed connection once immediately, then queues the notification', async () => {
    let connections = 0;
    const breaking = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => breaking.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = breaking.address() as { port: number };
      const { notify, addFcm } = await start({
        environment: { RELAY_FCM_BASE_URL: `https://127.0.0.1:${port}` },
        timings: { delayDivisor: 1 },
      });
      const { body } = await notify([fcmRequest(await addFcm('fcm-0'))]);
      expect(body.results[0]).toMatchObject({ status: 'queued', reason: 'NOT_CONNECTED' });
      expect(connections).toBe(2);
    } finally {
      await new Promise((resolve) => breaking.close(resolve));
    }
  });

  it('uses one access token for concurrent notifications', async () => {
    const { statistics } = await start();
    await sendToMany(50, { vendor: 'fcm' });
    const { oauth } = await statistics();
    expect(oauth.access_tokens_issued).toBe(1);
  });

  it('uses an access token until it expires if Google issues no new token', async () => {
    const time = { now: Date.UTC(2026, 0, 5, 12) };
    const { faults, addFcm, notify } = await start({
      clock: () => time.now,
      timings: { delayDivisor: 1 },
    });
    const id = await addFcm('fcm-0');
    expect((await notify([fcmRequest(id)])).body.results).toEqual([{ status: 'sent' }]);
    await faults([{ vendor: 'oauth', status: 503 }]);
    time.now += 56 * 60_000;
    const many = Array.from({ length: 20 }, () => fcmRequest(id));
    const { body } = await notify(many);
    expect(new Set(body.results.map(({ status }) => status))).toEqual(new Set(['sent']));
    // Meanwhile, the relay requests a new access token from Google only once.
    await until(async () => (await firedFaults()).some((times) => times > 0));
    expect(await firedFaults()).toEqual([1]);
    time.now += 5 * 60_000;
    expect((await notify(many)).body.results[0]).toMatchObject({ reason: 'OAUTH_UNAVAILABLE' });
  });

  it('does not wait for a new access token while the current token is valid', async () => {
    const time = { now: Date.UTC(2026, 0, 5, 12) };
    const { faults, addFcm, notify } = await start({
      clock: () => time.now,
      timings: { delayDivisor: 1, requestBudgetMilliseconds: 5000 },
    });
    const id = await addFcm('fcm-0');
    await notify([fcmRequest(id)]);
    await faults([{ vendor: 'oauth', latency_ms: 30_000 }]);
    time.now += 56 * 60_000;
    // A notification that waited for the new token would be `queued` at the end of the request's budget.
    expect((await notify([fcmRequest(id)])).body.results).toEqual([{ status: 'sent' }]);
  });

  it('replaces an access token that FCM no longer accepts, without a failed notification', async () => {
    const { faults, addFcm, notify, statistics } = await start();
    const id = await addFcm('fcm-0');
    await notify([fcmRequest(id)]);
    await faults([{ vendor: 'fcm', reason: 'UNAUTHENTICATED', times: 1 }]);
    const { body } = await notify([fcmRequest(id)]);
    expect(body.results).toEqual([{ status: 'sent' }]);
    const { oauth } = await statistics();
    expect(oauth.access_tokens_issued).toBe(2);
  });
});
