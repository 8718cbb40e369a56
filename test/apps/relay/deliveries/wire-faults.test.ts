import { createServer } from 'node:net';
import { join } from 'node:path';
import { startVendors } from '@waxwing/vendors';
import { afterEach, describe, expect, it } from 'vitest';
import { productionTimings } from '../../../../apps/relay/src/deliveries/delivery-timings.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  fcmRequest,
  startDeliveriesUnderTest,
  type UnderTestOptions,
} from './deliveries-under-test.js';

let relay: DeliveriesUnderTest | undefined;
afterEach(async () => {
  await relay?.close();
  relay = undefined;
});

async function start(options: UnderTestOptions = {}): Promise<DeliveriesUnderTest> {
  relay = await startDeliveriesUnderTest(options);
  return relay;
}

const impatient = {
  apns: { ...productionTimings.apns, requestTimeoutMilliseconds: 300, pingTimeoutMilliseconds: 300 },
};

/** One notification to each of so many new phones; every result, and how often each phone was reached in the end. */
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

describe('over APNs', () => {
  it.each([
    ['with its reason in JSON', { goaway_every: 40 }],
    ['with no words at all', { goaway_every: 40, goaway_json: false }],
  ])('a GOAWAY %s every 40 streams loses nothing and sends nothing twice', async (_name, rule) => {
    const { faults } = await start();
    await faults([
      { vendor: 'apns', latency_ms: 5 },
      { vendor: 'apns', ...rule },
    ]);
    expect(await sendToMany(400)).toEqual({ statuses: { sent: 400 }, reached: 400, most: 1 });
    const { apns } = (await (relay as DeliveriesUnderTest).statistics()) as unknown as {
      apns: { production: { connections: number } };
    };
    expect(apns.production.connections).toBeGreaterThanOrEqual(10);
  });

  it('a refused stream is sent again, and never twice', async () => {
    const { faults } = await start();
    await faults([{ vendor: 'apns', reset: 'before', rate: 0.2 }], 1);
    expect(await sendToMany(300)).toMatchObject({ reached: 300, most: 1 });
  });

  it('a stream reset after it was processed is tried again later, because nobody can know', async () => {
    const { faults } = await start();
    await faults([{ vendor: 'apns', token: apnsToken(0), reset: 'after', times: 1 }]);
    expect(await sendToMany(2)).toEqual({ statuses: { queued: 1, sent: 1 }, reached: 2, most: 2 });
  });

  it('uses one stream until it has proven itself, then as many as it may, then more connections', async () => {
    const { faults, statistics } = await start();
    await faults([{ vendor: 'apns', max_concurrent_streams: 3, latency_ms: 20 }]);
    expect(await sendToMany(100)).toMatchObject({ statuses: { sent: 100 }, most: 1 });
    const { apns } = (await statistics()) as unknown as {
      apns: { production: { connections: number; answers: object } };
    };
    expect(apns.production.connections).toBeGreaterThan(1);
    expect(apns.production.connections).toBeLessThanOrEqual(8);
    expect(Object.keys(apns.production.answers)).toEqual(['200']);
  });

  it('keeps its connections and its provider token from one request to the next', async () => {
    const { notify, addApns, statistics } = await start();
    const id = await addApns(apnsToken());
    for (let round = 0; round < 20; round += 1) await notify([apnsRequest(id)]);
    const { apns } = (await statistics()) as unknown as {
      apns: { production: { connections: number }; provider_tokens_accepted: number };
    };
    expect(apns).toMatchObject({ production: { connections: 1 }, provider_tokens_accepted: 1 });
  });

  it('leaves a connection that has fallen silent, and delivers over a fresh one', async () => {
    const { notify, addApns, faults, settled, statistics } = await start({ timings: impatient });
    const id = await addApns(apnsToken());
    await notify([apnsRequest(id)]);
    await faults([{ vendor: 'apns', half_open: true, times: 1 }]);
    const { body } = await notify([apnsRequest(id)]);
    expect(body.results[0]).toMatchObject({ status: 'queued', reason: 'TIMED_OUT' });
    expect(await settled(body.results[0]?.notification_id)).toMatchObject({ status: 'sent' });
    const { apns } = (await statistics()) as unknown as { apns: { production: { connections: number } } };
    expect(apns.production.connections).toBe(2);
  });

  it('gives up a timed-out notification after three repeats', async () => {
    const { notify, addApns, faults, settled } = await start({ timings: impatient });
    const id = await addApns(apnsToken());
    await faults([{ vendor: 'apns', latency_ms: 2000 }]);
    const { body } = await notify([apnsRequest(id)]);
    const receipt = await settled(body.results[0]?.notification_id);
    expect(receipt).toMatchObject({ status: 'rejected', reason: 'TIMED_OUT', fault: 'vendor', attempts: 4 });
  });

  it('stores what cannot be sent while APNs is away, and delivers it once APNs is back', async () => {
    const port = await freePort();
    const { notify, addApns, dir, settled } = await start({
      environment: { RELAY_APNS_PRODUCTION_URL: `https://127.0.0.1:${port}` },
    });
    const id = await addApns(apnsToken());
    const { body } = await notify([apnsRequest(id)]);
    expect(body.results[0]).toMatchObject({ status: 'queued', reason: 'NOT_CONNECTED' });
    const back = await startVendors({ dataDir: join(dir, 'vendors'), apnsProductionPort: port });
    try {
      expect(await settled(body.results[0]?.notification_id)).toMatchObject({ status: 'sent' });
    } finally {
      await back.close();
    }
  });
});

describe('over FCM', () => {
  it('a connection reset before processing is made up for, and nothing arrives twice', async () => {
    const { faults } = await start();
    await faults([{ vendor: 'fcm', reset: 'before', rate: 0.1 }], 1);
    expect(await sendToMany(200, { vendor: 'fcm' })).toMatchObject({ reached: 200, most: 1 });
  });

  it('one access token serves however many notifications need it at once', async () => {
    const { statistics } = await start();
    await sendToMany(50, { vendor: 'fcm' });
    const { oauth } = (await statistics()) as unknown as { oauth: { access_tokens_issued: number } };
    expect(oauth.access_tokens_issued).toBe(1);
  });

  it('an access token that FCM no longer takes is replaced, once, without anybody noticing', async () => {
    const { faults, addFcm, notify, statistics } = await start();
    const id = await addFcm('fcm-0');
    await notify([fcmRequest(id)]);
    await faults([{ vendor: 'fcm', reason: 'UNAUTHENTICATED', times: 1 }]);
    const { body } = await notify([fcmRequest(id)]);
    expect(body.results).toEqual([{ status: 'sent' }]);
    const { oauth } = (await statistics()) as unknown as { oauth: { access_tokens_issued: number } };
    expect(oauth.access_tokens_issued).toBe(2);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
