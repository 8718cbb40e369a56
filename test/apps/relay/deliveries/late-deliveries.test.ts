import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PushRequest } from '@waxwing/protocol';
import { Metrics } from '@waxwing/service/metrics';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DeliveryAttempts } from '#relay/deliveries/attempts/attempt-delivery.js';
import { DeliveryMetrics } from '#relay/deliveries/delivery-metrics.js';
import { productionTimings } from '#relay/deliveries/delivery-timings.js';
import type { Outcome } from '#relay/deliveries/policy/judge-answer.js';
import { LoadLimit } from '#relay/deliveries/queue/load-limit.js';
import type { FirstOutcome, RecordOutcomes } from '#relay/deliveries/queue/record-outcomes.js';
import { DeliverNotifications } from '#relay/deliveries/requests/deliver-notifications.js';
import { VendorDeadlines } from '#relay/deliveries/requests/vendor-deadlines.js';
import {
  type DeliveriesUnderTest,
  fcmRequest,
  realmUuid,
  startDeliveriesUnderTest,
  until,
} from './deliveries-under-test.js';

const sent: Outcome = { kind: 'sent' };
let relay: DeliveriesUnderTest;
beforeEach(async () => {
  relay = await startDeliveriesUnderTest();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await relay.close();
});

interface Gate<Value> {
  readonly opened: Promise<Value>;
  open(value: Value): void;
  fail(error: Error): void;
}

function gate<Value>(): Gate<Value> {
  let open: Gate<Value>['open'] = () => undefined;
  let fail: Gate<Value>['fail'] = () => undefined;
  const opened = new Promise<Value>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { opened, open, fail };
}

/** Returns a function that delivers a request. The test decides when the vendor and the database respond. */
function deliveringWith(options: {
  attempt: () => Promise<Outcome>;
  record: (items: readonly FirstOutcome[]) => Promise<Outcome[]>;
  recordLate: (outcome: Outcome, wasQueued: boolean) => void;
}) {
  const { database, tokenVault, deliveries, realmId, server } = relay;
  const delivering = new DeliverNotifications({
    database,
    tokenVault,
    clock: Date.now,
    failures: { note: () => undefined },
    attempts: { attempt: options.attempt } as unknown as DeliveryAttempts,
    receipts: deliveries.receipts,
    records: {
      record: options.record,
      recordLate: async (_notification: unknown, outcome: Outcome, wasQueued: boolean) =>
        options.recordLate(outcome, wasQueued),
    } as unknown as RecordOutcomes,
    load: new LoadLimit({
      maximumInFlight: 100,
      maximumQueued: 100,
      metrics: new DeliveryMetrics(new Metrics()),
    }),
    timings: { ...productionTimings, requestBudgetMilliseconds: 20 },
  });
  const requester = { serverId: server?.serverId ?? '', realmId, realmUuid };
  const waiting = { requireClient: () => undefined, nextTick: async () => undefined };
  return (request: object) => delivering.deliver(requester, [request as PushRequest], waiting);
}

describe('a delivery that ends after the response to the server', () => {
  it('is stored only after the reported outcome, which would otherwise overwrite it', async () => {
    const vendor = gate<Outcome>();
    const database = gate<void>();
    const written: string[] = [];
    const recording = gate<void>();
    const deliver = deliveringWith({
      attempt: () => vendor.opened,
      record: async (items) => {
        recording.open();
        await database.opened;
        written.push(...items.map(({ outcome }) => outcome.kind));
        return items.map(({ outcome }) => outcome);
      },
      recordLate: (outcome) => written.push(outcome.kind),
    });
    const answered = deliver(fcmRequest(await relay.addFcm('fcm-late')));
    // The vendor responds after the budget is spent, while the database still stores the first outcome.
    await recording.opened;
    vendor.open(sent);
    await nextTurn();
    expect(written).toEqual([]);
    database.open();
    expect(await answered).toMatchObject([{ outcome: { kind: 'retry', reason: 'UNDER_WAY' } }]);
    await until(() => written.length === 2);
    expect(written).toEqual(['retry', 'sent']);
  });

  it('does not count as queued if the retry could not be stored', async () => {
    const vendor = gate<Outcome>();
    const late: unknown[] = [];
    const deliver = deliveringWith({
      attempt: () => vendor.opened,
      record: async () => {
        throw new Error('the disk is full');
      },
      recordLate: (outcome, wasQueued) => late.push({ outcome, wasQueued }),
    });
    const answered = deliver(fcmRequest(await relay.addFcm('fcm-unstored')));
    await expect(answered).rejects.toThrow('the disk is full');
    vendor.open(sent);
    await until(() => late.length === 1);
    expect(late).toEqual([{ outcome: sent, wasQueued: false }]);
  });
});

describe('a duplicate of a notification whose outcome cannot be stored', () => {
  it('is stored as a retry, even if the first request fails late', async () => {
    const database = gate<void>();
    const stored: (readonly FirstOutcome[])[] = [];
    let records = 0;
    const deliver = deliveringWith({
      attempt: async () => sent,
      record: async (items) => {
        records += 1;
        if (records === 1) await database.opened;
        else stored.push(items.filter(({ isRepeat }) => !isRepeat));
        return items.map(({ outcome }) => outcome);
      },
      recordLate: () => undefined,
    });
    const request = fcmRequest(await relay.addFcm('fcm-first'), { notification_id: randomUUID() });
    const first = deliver(request);
    await until(() => records === 1);
    const wait = vi.spyOn(VendorDeadlines.prototype, 'wait');
    const repeat = deliver(request);
    await until(() => wait.mock.results.length === 1);
    // The repeated request has spent its budget, but still waits for the first request.
    await wait.mock.results[0]?.value;
    database.fail(new Error('the disk is full'));
    await expect(first).rejects.toThrow('the disk is full');
    expect(await repeat).toMatchObject([{ outcome: { kind: 'retry', reason: 'INTERNAL' } }]);
    expect(stored.flat()).toMatchObject([{ outcome: { kind: 'retry', reason: 'INTERNAL' } }]);
  });
});
