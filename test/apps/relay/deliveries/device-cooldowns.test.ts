import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { idle } from '../../../support/idle.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  startDeliveriesUnderTest,
} from './deliveries-under-test.js';

const time = { now: Date.UTC(2026, 0, 5, 12) };
const throttled = { vendor: 'apns', token: apnsToken(1), status: 429, reason: 'TooManyRequests' };
let relay: DeliveriesUnderTest;
beforeEach(async () => {
  relay = await startDeliveriesUnderTest({ clock: () => time.now, timings: { delayDivisor: 1 } });
});
afterEach(() => relay.close());

async function requests(): Promise<number> {
  const { apns } = await relay.statistics();
  return apns.production.requests;
}

describe('a phone that Apple throttles', () => {
  it('gets its notifications after a cool-down, without delaying other phones', async () => {
    const [busy, other] = [await relay.addApns(apnsToken(1)), await relay.addApns(apnsToken(2))];
    await relay.faults([{ ...throttled, times: 1 }]);
    const { body: first } = await relay.notify([apnsRequest(busy)]);
    expect(first.results).toMatchObject([{ status: 'queued', reason: 'TooManyRequests' }]);
    const { body } = await relay.notify([apnsRequest(busy), apnsRequest(busy), apnsRequest(other)]);
    expect(body.results.map(({ status, reason }) => [status, reason])).toEqual([
      ['queued', 'DEVICE_RESTS'],
      ['queued', 'DEVICE_RESTS'],
      ['sent', undefined],
    ]);
    expect(await requests()).toBe(2);
    time.now += 42_000;
    await idle(relay.database.jobs);
    expect(await relay.arrived(apnsToken(1))).toHaveLength(3);
    const ids = [...first.results, ...body.results].flatMap(({ notification_id: id }) => id ?? []);
    // Waiting for the end of the cool-down does not count as an attempt.
    expect((await relay.receipts(ids)).map(({ status, attempts }) => [status, attempts]).sort()).toEqual([
      ['sent', 1],
      ['sent', 1],
      ['sent', 2],
    ]);
  });

  it('is probed with one notification at a time while Apple keeps throttling it', async () => {
    const busy = await relay.addApns(apnsToken(1));
    await relay.faults([throttled]);
    await relay.notify(Array.from({ length: 30 }, () => apnsRequest(busy, { ttl_seconds: 600 })));
    const before = await requests();
    for (let second = 0; second < 120; second += 1) {
      time.now += 1000;
      await idle(relay.database.jobs);
    }
    expect(await requests()).toBeLessThan(before + 15);
  });
});
