import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { idle } from '../../../support/idle.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  fcmRequest,
  startDeliveriesUnderTest,
  until,
} from './deliveries-under-test.js';

let relay: DeliveriesUnderTest | undefined;
afterEach(async () => {
  await relay?.close();
  relay = undefined;
});

describe('a request that takes longer than its budget', () => {
  /** Latency in milliseconds. Long enough that other requests end first, even on a slow machine. */
  const answersLate = 2000;

  /** Makes the relay stop waiting once FCM has received this many requests, as if the budget were spent. */
  async function spendBudgetOnce({ statistics, deliveries }: DeliveriesUnderTest, requests: number) {
    await until(async () => (await statistics()).fcm.requests >= requests);
    deliveries.waitNoLonger();
  }

  it('reports deliveries in flight as queued, and sends nothing twice', async () => {
    relay = await startDeliveriesUnderTest({ timings: { requestBudgetMilliseconds: 2000 } });
    const { notify, addApns, faults, settled, arrived, metrics, database } = relay;
    const quick = await addApns(apnsToken(1));
    const slow = await addApns(apnsToken(2));
    await notify([apnsRequest(quick)]);
    await faults([{ vendor: 'apns', token: apnsToken(2), latency_ms: 3000 }]);
    const { body } = await notify([apnsRequest(quick), apnsRequest(slow)]);
    // The result would be `sent` if the response had waited for the vendor.
    expect(body.results).toMatchObject([{ status: 'sent' }, { status: 'queued', reason: 'UNDER_WAY' }]);
    expect(await settled(body.results[1]?.notification_id)).toMatchObject({ status: 'sent' });
    // The stored retry has nothing left to do.
    for (const { id } of await database.jobs.list({ kind: 'deliver-notification' })) {
      expect(await database.jobs.retry(id)).toBe(true);
    }
    await idle(database.jobs);
    expect(await database.jobs.list({ kind: 'deliver-notification' })).toEqual([]);
    expect(await arrived(apnsToken(2))).toHaveLength(1);
    expect(await metrics.text()).toContain('waxwing_deliveries_in_flight 0');
  });

  it('sends only the stored retry if the first attempt waits too long for an access token', async () => {
    relay = await startDeliveriesUnderTest({ timings: { requestBudgetMilliseconds: 100 } });
    const { notify, addFcm, faults, settled, arrived, database } = relay;
    const id = await addFcm('fcm-1');
    await faults([{ vendor: 'oauth', latency_ms: 3000 }]);
    const { body } = await notify([fcmRequest(id)]);
    expect(body.results[0]).toMatchObject({ status: 'queued', reason: 'UNDER_WAY' });
    const stored = await database.jobs.list({ kind: 'deliver-notification' });
    expect(stored).toHaveLength(1);
    expect(await database.jobs.retry(stored[0]?.id ?? '')).toBe(true);
    expect(await settled(body.results[0]?.notification_id)).toMatchObject({ status: 'sent' });
    expect(await arrived('fcm-1')).toHaveLength(1);
  });

  it('keeps the outcome if the stored retry runs too late, as after a long restart', async () => {
    let now = Date.now();
    relay = await startDeliveriesUnderTest({
      timings: { requestBudgetMilliseconds: 150 },
      clock: () => now,
    });
    const { notify, addFcm, faults, settled, receipts, database } = relay;
    const id = await addFcm('fcm-1');
    await faults([{ vendor: 'fcm', latency_ms: 400, times: 1 }]);
    const { body } = await notify([fcmRequest(id, { ttl_seconds: 60 })]);
    const notificationId = body.results[0]?.notification_id;
    const ended = await settled(notificationId);
    expect(ended).toMatchObject({ status: 'sent', attempts: 1 });
    now += 61_000;
    await idle(database.jobs);
    expect(await database.jobs.list({ state: 'waiting', kind: 'deliver-notification' })).toEqual([]);
    expect(await receipts([notificationId])).toEqual([ended]);
  });

  it('rejects notifications that would expire before a retry, without counting them as queued', async () => {
    const now = Date.now();
    relay = await startDeliveriesUnderTest({ timings: { delayDivisor: 1 }, clock: () => now });
    const { notify, addFcm, faults, receipts, metrics } = relay;
    const queued = await addFcm('fcm-1');
    const slow = await addFcm('fcm-2');
    await faults([
      { vendor: 'fcm', token: 'fcm-1', status: 503 },
      { vendor: 'fcm', token: 'fcm-2', latency_ms: answersLate },
    ]);
    const id = randomUUID();
    const answered = notify([fcmRequest(queued), fcmRequest(slow, { ttl_seconds: 5, notification_id: id })]);
    await spendBudgetOnce(relay, 2);
    const { body } = await answered;
    expect(body.results).toMatchObject([
      { status: 'queued' },
      { status: 'rejected', reason: 'EXPIRED_UNDER_WAY' },
    ]);
    await until(async () => (await receipts([id]))[0]?.status === 'sent');
    expect(await metrics.text()).toContain('waxwing_deliveries_queued 1');
  });

  it.each([
    ['a minute after a late 429', { status: 429 }, 'QUOTA_EXCEEDED', 60],
    ['for the time in a late Retry-After', { status: 503, retry_after: 600 }, 'UNAVAILABLE', 600],
  ])('delays the stored retry %s', async (_name, answer, reason, seconds) => {
    const time = { now: Date.now() };
    relay = await startDeliveriesUnderTest({ timings: { delayDivisor: 1 }, clock: () => time.now });
    const { notify, addFcm, faults, receipts, arrived, database } = relay;
    const id = await addFcm('fcm-1');
    await faults([{ vendor: 'fcm', latency_ms: answersLate, times: 1, ...answer }]);
    const answered = notify([fcmRequest(id)]);
    await spendBudgetOnce(relay, 1);
    const { body } = await answered;
    time.now += 1000;
    expect(body.results[0]).toMatchObject({ status: 'queued', reason: 'UNDER_WAY' });
    const receipt = async () => (await receipts([body.results[0]?.notification_id]))[0];
    await until(async () => (await receipt())?.reason === reason);
    expect(await receipt()).toMatchObject({ status: 'queued', attempts: 1 });
    const waiting = () => database.jobs.list({ kind: 'deliver-notification' });
    // Runs the retry that the relay stored while the first attempt was in flight.
    for (const job of await waiting()) await database.jobs.retry(job.id);
    await idle(database.jobs);
    expect(await arrived('fcm-1')).toEqual([]);
    expect(await receipt()).toMatchObject({ status: 'queued', reason, attempts: 1 });
    const jobs = await waiting();
    expect(jobs).toHaveLength(1);
    expect(jobs[0]?.at).toBeGreaterThanOrEqual(time.now + seconds * 1000);
  });
});
