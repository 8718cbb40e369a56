import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { idle } from '../../../support/idle.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  fcmRequest,
  startDeliveriesUnderTest,
} from './deliveries-under-test.js';

const time = { now: Date.UTC(2026, 0, 5, 12) };
let relay: DeliveriesUnderTest;
beforeEach(async () => {
  relay = await startDeliveriesUnderTest({ clock: () => time.now, timings: { delayDivisor: 1 } });
});
afterEach(() => relay.close());

async function notifyOne(request: object) {
  time.now += 1000;
  const { body } = await relay.notify([request]);
  return body.results[0] ?? { status: 'none' };
}

async function receiptOf({ notification_id: id }: { notification_id?: string }) {
  const [receipt] = await relay.receipts([id]);
  return receipt;
}

describe('a queued notification', () => {
  it('is not sent after a later notification with the same collapse id', async () => {
    const id = await relay.addFcm('fcm-1');
    const other = await relay.addFcm('fcm-2');
    const collapsing = { collapse_id: 'score' };
    await relay.faults([{ vendor: 'fcm', status: 503, times: 3 }]);
    const older = await notifyOne(fcmRequest(id, collapsing));
    const free = await notifyOne(fcmRequest(id, { collapse_id: 'other' }));
    const elsewhere = await notifyOne(fcmRequest(other, collapsing));
    expect([older, free, elsewhere].map(({ status }) => status)).toEqual(['queued', 'queued', 'queued']);
    expect(await notifyOne(fcmRequest(id, collapsing))).toEqual({ status: 'sent' });
    time.now += 13_000;
    await idle(relay.database.jobs);
    expect(await receiptOf(older)).toMatchObject({ status: 'rejected', reason: 'REPLACED', fault: 'server' });
    expect(await receiptOf(free)).toMatchObject({ status: 'sent' });
    expect(await receiptOf(elsewhere)).toMatchObject({ status: 'sent' });
    expect(await relay.arrived('fcm-1')).toHaveLength(2);
  });

  it('is replaced by a later notification that waits for the end of a cool-down', async () => {
    const token = apnsToken(1);
    const id = await relay.addApns(token);
    const collapsing = { collapse_id: 'score' };
    await relay.faults([{ vendor: 'apns', status: 429, reason: 'TooManyRequests', times: 1 }]);
    const older = await notifyOne(apnsRequest(id, collapsing));
    const newer = await notifyOne(apnsRequest(id, collapsing));
    const newest = await notifyOne(apnsRequest(id, collapsing));
    expect(newest).toMatchObject({ status: 'queued', reason: 'DEVICE_RESTS' });
    time.now += 42_000;
    await idle(relay.database.jobs);
    expect(await receiptOf(older)).toMatchObject({ status: 'rejected', reason: 'REPLACED' });
    expect(await receiptOf(newer)).toMatchObject({ status: 'rejected', reason: 'REPLACED' });
    expect(await receiptOf(newest)).toMatchObject({ status: 'sent' });
    expect(await relay.arrived(token)).toHaveLength(1);
  });

  it('is neither replaced nor delayed by a notification that will never be sent', async () => {
    const token = apnsToken(2);
    const id = await relay.addApns(token);
    const collapsing = { collapse_id: 'score' };
    await relay.faults([{ vendor: 'apns', status: 429, reason: 'TooManyRequests', times: 1 }]);
    const older = await notifyOne(apnsRequest(id, collapsing));
    for (let count = 0; count < 100; count += 1) {
      const brief = await notifyOne(apnsRequest(id, { ...collapsing, ttl_seconds: 0 }));
      expect(brief).toMatchObject({ status: 'rejected', reason: 'EXPIRED_DEVICE_RESTS' });
      time.now -= 1000;
    }
    time.now += 42_000;
    await idle(relay.database.jobs);
    expect(await receiptOf(older)).toMatchObject({ status: 'sent' });
  });

  it('does not block later notifications after the clock is set back', async () => {
    const id = await relay.addFcm('fcm-3');
    expect(await notifyOne(fcmRequest(id, { collapse_id: 'score' }))).toEqual({ status: 'sent' });
    time.now -= 300_000;
    expect(await notifyOne(fcmRequest(id, { collapse_id: 'score' }))).toEqual({ status: 'sent' });
  });

  it('is sent after an older notification with the same collapse id', async () => {
    const id = await relay.addFcm('fcm-1');
    const collapsing = { collapse_id: 'score' };
    expect(await notifyOne(fcmRequest(id, collapsing))).toEqual({ status: 'sent' });
    await relay.faults([{ vendor: 'fcm', status: 503, times: 1 }]);
    const newer = await notifyOne(fcmRequest(id, collapsing));
    time.now += 13_000;
    await idle(relay.database.jobs);
    expect(await receiptOf(newer)).toMatchObject({ status: 'sent', attempts: 2 });
  });
});
