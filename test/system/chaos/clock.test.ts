import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import {
  fcmRequest,
  startDeliveriesUnderTest,
  until,
} from '../../apps/relay/deliveries/deliveries-under-test.js';
import { ServerUnderTest, testPhone } from '../../apps/server/server-under-test.js';
import { idle } from '../../support/idle.js';
import { notified, registered } from '../../support/relay-stand-in.js';

const minute = 60_000;
const hour = 60 * minute;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function startServer(): Promise<ServerUnderTest> {
  const test = await ServerUnderTest.start();
  closers.push(() => test.close());
  return test;
}

describe('a clock that jumps back and forth', () => {
  it('loses no registration at the server', async () => {
    const test = await startServer();
    const ada = await test.addAccount('ada@example.com');
    test.relay.otherwise('cut');
    const start = test.now;
    await test.register(ada, testPhone('1').fields);
    await test.settle();
    test.now = start - 2 * hour;
    await test.register(ada, testPhone('2').fields);
    await test.settle();
    test.now = start + 5 * hour;
    await test.register(ada, testPhone('3').fields);
    await test.settle();
    test.relay.otherwise(registered(7));
    for (const now of [start - hour, start + minute, start + 6 * hour]) {
      test.now = now;
      await test.settle();
    }
    const active = { status: 'active', error_code: null };
    expect(await test.pushDevices(ada)).toEqual({ 1: active, 2: active, 3: active });
  });

  it('locks no user out of test notifications for longer than the rate limits do', async () => {
    const test = await startServer();
    const ada = await test.addAccount('ada@example.com');
    test.relay.otherwise(registered(7));
    await test.register(ada, testPhone('1').fields);
    await test.settle();
    test.relay.otherwise(notified());
    const path = 'mobile_push/e2ee/test_notification';
    expect((await test.ask(ada, 'POST', path)).status).toBe(200);
    test.now -= 5000;
    const { status, headers } = await test.ask(ada, 'POST', path);
    const waitSeconds = Number(headers['retry-after']);
    expect([status, waitSeconds]).toEqual([429, 15]);
    test.now += waitSeconds * 1000;
    expect((await test.ask(ada, 'POST', path)).status).toBe(200);
    test.now -= 30 * 24 * hour;
    expect((await test.ask(ada, 'POST', path)).status).toBe(200);
    expect((await test.ask(ada, 'POST', path)).status).toBe(429);
  });

  it('never makes the relay send FCM a longer TTL than the server’s, because FCM would reject it', async () => {
    let step = 0;
    const relay = await startDeliveriesUnderTest({
      clock: () => Date.now() + step,
      timings: { delayDivisor: 1 },
    });
    closers.push(() => relay.close());
    const device = await relay.addFcm('token', { registeredAt: Date.now() - 24 * hour });
    await relay.faults([{ vendor: 'fcm', status: 503 }]);
    const id = randomUUID();
    const { body } = await relay.notify([fcmRequest(device, { notification_id: id })]);
    expect(body.results).toMatchObject([{ status: 'queued' }]);
    await relay.faults([]);
    step = -minute;
    for (const job of await relay.database.jobs.list({ kind: 'deliver-notification' })) {
      await relay.database.jobs.retry(job.id);
    }
    expect(await relay.settled(id)).toMatchObject({ status: 'sent' });
  });

  it('neither loses nor repeats a notification in the relay’s queue', async () => {
    let step = 0;
    const relay = await startDeliveriesUnderTest({ clock: () => Date.now() + step });
    closers.push(() => relay.close());
    const device = await relay.addFcm('token', { registeredAt: Date.now() - 24 * hour });
    const deliver = async (): Promise<string> => {
      const id = randomUUID();
      const { body } = await relay.notify([fcmRequest(device, { notification_id: id })]);
      expect(body.results).toMatchObject([{ status: 'queued' }]);
      return id;
    };
    await relay.faults([{ vendor: 'fcm', status: 503 }]);
    const ids = [await deliver()];
    step = -hour / 2;
    ids.push(await deliver());
    step = minute;
    ids.push(await deliver());
    await relay.faults([]);
    for (const next of [-hour, minute, hour]) {
      step = next;
      await idle(relay.database.jobs);
    }
    await until(async () => (await relay.receipts(ids)).every(({ status }) => status === 'sent'));
    expect(await relay.arrived('token')).toHaveLength(ids.length);
  });
});
