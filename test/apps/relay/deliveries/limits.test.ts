import { randomUUID } from 'node:crypto';
import { relayRegisterPath } from '@waxwing/protocol';
import { bindOperations, createHttpApp } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import { afterEach, describe, expect, it } from 'vitest';
import { registerDevice } from '#relay/registrations/register-device.js';
import type { RegistrationBatches } from '#relay/registrations/registration-batches.js';
import { ServerDirectory } from '#relay/servers/server-directory.js';
import { ServerQuotas } from '#relay/servers/server-quotas.js';
import { idle } from '../../../support/idle.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { eachPostgres } from '../../../support/test-databases.js';
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

/** Tries now what is stored for a later try. */
async function tryStored({ database: { jobs } }: DeliveriesUnderTest): Promise<void> {
  for (const { id } of await jobs.list({ kind: 'deliver-notification' })) {
    expect(await jobs.retry(id)).toBe(true);
  }
  await idle(jobs);
}

describe('a server over its quota', () => {
  it('is answered 503 with RATE_LIMIT_HIT and when to come back, and is served again then', async () => {
    const time = { now: Date.UTC(2026, 0, 5, 12) };
    relay = await startDeliveriesUnderTest({
      clock: () => time.now,
      environment: { RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '60' },
    });
    const id = await relay.addFcm('fcm-1');
    const many = Array.from({ length: 50 }, () => fcmRequest(id));
    expect((await relay.notify(many)).status).toBe(200);
    const refused = await relay.notify(many);
    expect(refused.status).toBe(503);
    expect(refused.body.code).toBe('RATE_LIMIT_HIT');
    expect(refused.headers['retry-after']).toBe('40');
    time.now += 39_000;
    expect((await relay.notify(many)).status).toBe(503);
    time.now += 1000;
    expect((await relay.notify(many)).status).toBe(200);
    expect(await relay.arrived('fcm-1')).toHaveLength(100);
    // Silence saves nothing up beyond a minute's worth.
    time.now += 3_600_000;
    expect((await relay.notify(many)).status).toBe(200);
    expect((await relay.notify(many)).status).toBe(503);
  });

  it('may send a request larger than its quota when it has not sent for a minute, and pays for it', async () => {
    const time = { now: Date.UTC(2026, 0, 5, 12) };
    relay = await startDeliveriesUnderTest({
      clock: () => time.now,
      environment: { RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '60' },
    });
    const id = await relay.addFcm('fcm-1');
    const many = Array.from({ length: 120 }, () => fcmRequest(id));
    expect((await relay.notify(many)).status).toBe(200);
    const refused = await relay.notify([fcmRequest(id)]);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '61']);
  });

  it('pays for a body that is refused, and is refused before its body is read when nothing is left', async () => {
    const time = { now: Date.UTC(2026, 0, 5, 12) };
    relay = await startDeliveriesUnderTest({
      clock: () => time.now,
      environment: { RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '60' },
    });
    const id = await relay.addFcm('fcm-1');
    const unreadable = [{ device_id: 'none' }];
    for (let count = 0; count < 60; count += 1) {
      expect((await relay.notify(unreadable)).body.code).toBe('BAD_REQUEST');
    }
    const refused = await relay.notify(unreadable);
    expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([
      ...[503, 'RATE_LIMIT_HIT', '1'],
    ]);
    expect((await relay.notify([fcmRequest(id)])).status).toBe(503);
    time.now += 60_000;
    // Asking for too much, again and again, costs nothing.
    expect((await relay.notify(Array.from({ length: 20 }, () => fcmRequest(id)))).status).toBe(200);
    for (let count = 0; count < 5; count += 1) {
      expect((await relay.notify(Array.from({ length: 41 }, () => fcmRequest(id)))).status).toBe(503);
    }
    expect((await relay.notify(Array.from({ length: 40 }, () => fcmRequest(id)))).status).toBe(200);
  });

  it('is still over it after the relay was started again', async () => {
    const time = { now: Date.UTC(2026, 0, 5, 12) };
    const options = {
      clock: () => time.now,
      environment: { RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '60' },
    };
    relay = await startDeliveriesUnderTest(options);
    const { dir, ring, authorization } = relay;
    const id = await relay.addFcm('fcm-1');
    expect((await relay.notify(Array.from({ length: 60 }, () => fcmRequest(id)))).status).toBe(200);
    await relay.close({ keepData: true });
    relay = await startDeliveriesUnderTest({ ...options, dir, ring });
    const refused = await relay.notify([fcmRequest(id)], { authorization });
    expect([refused.status, refused.body.code]).toEqual([503, 'RATE_LIMIT_HIT']);
    time.now += 1000;
    expect((await relay.notify([fcmRequest(id)], { authorization })).status).toBe(200);
  });
});

describe('two relays on one database', () => {
  eachPostgres((backend) => {
    let second: DeliveriesUnderTest | undefined;
    afterEach(async () => {
      await second?.close();
      second = undefined;
    });

    it('let a server send one quota together', async () => {
      const time = { now: Date.UTC(2026, 0, 5, 12) };
      const options = {
        clock: () => time.now,
        databaseUrl: await backend.freshUrl(),
        environment: { RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '60' },
        timings: { quotaExchangeMilliseconds: 10 },
      };
      relay = await startDeliveriesUnderTest(options);
      const { authorization, ring, database } = relay;
      second = await startDeliveriesUnderTest({ ...options, ring });
      const id = await relay.addFcm('fcm-1');
      expect((await relay.notify(Array.from({ length: 60 }, () => fcmRequest(id)))).status).toBe(200);
      const told = () => database.db.selectFrom('server_quotas').select('used_milliseconds').execute();
      await until(async () => (await told()).length > 0);
      const other = second;
      let refused = await other.notify([], { authorization });
      let granted = refused.status === 200 ? 1 : 0;
      await until(async () => {
        refused = await other.notify([], { authorization });
        if (refused.status === 200) granted += 1;
        // Once in a few exchanges, so that it is what the first told and not its own quota that ends it.
        await new Promise((resolve) => setTimeout(resolve, 100));
        return refused.status !== 200;
      });
      expect(granted).toBeLessThan(60);
      expect([refused.status, refused.body.code]).toEqual([503, 'RATE_LIMIT_HIT']);
      time.now += 60_000;
      expect((await other.notify([], { authorization })).status).toBe(200);
    });
  });
});

describe('a server that registers too much', () => {
  it('is answered 503, not 429, which stock servers take for the end of a registration', async () => {
    relay = await startDeliveriesUnderTest();
    const clock = () => Date.now();
    const context = {
      servers: new ServerDirectory(relay.database.db, clock),
      // Nothing gets that far: the parameters are missing.
      registrations: {} as RegistrationBatches,
      quotas: new ServerQuotas(1, clock),
    };
    const other = await createHttpApp({
      log: createMemoryLog().log,
      metrics: new Metrics(),
      operations: bindOperations(context, [registerDevice]),
      readiness: {},
    });
    const { authorization } = relay;
    const ask = () => other.inject({ method: 'POST', url: relayRegisterPath, headers: { authorization } });
    expect((await ask()).json().code).toBe('REQUEST_VARIABLE_MISSING');
    const refused = await ask();
    expect([refused.statusCode, refused.json().code]).toEqual([503, 'RATE_LIMIT_HIT']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await other.close();
  });
});

describe('a full relay', () => {
  it('answers 503 with Retry-After while too much is in flight, and takes more once there is room', async () => {
    relay = await startDeliveriesUnderTest({ environment: { RELAY_MAXIMUM_NOTIFICATIONS_IN_FLIGHT: '10' } });
    const { notify, addApns, faults, metrics, statistics } = relay;
    const id = await addApns(apnsToken());
    await faults([{ vendor: 'apns', latency_ms: 300 }]);
    const eight = Array.from({ length: 8 }, () => apnsRequest(id));
    const first = notify(eight);
    await until(async () => {
      const { apns } = await statistics();
      return apns.production.requests > 0;
    });
    expect(await metrics.text()).toContain('waxwing_deliveries_in_flight 8');
    const refused = await notify(eight);
    expect(refused.status).toBe(503);
    expect(refused.body.code).toBe('SERVICE_UNAVAILABLE');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await first).status).toBe(200);
    await faults([]);
    expect((await notify(eight)).status).toBe(200);
    expect(await metrics.text()).toContain('waxwing_deliveries_in_flight 0');
  });

  it('takes nothing from the quota of a server that it refuses', async () => {
    const time = { now: Date.UTC(2026, 0, 5, 12) };
    relay = await startDeliveriesUnderTest({
      clock: () => time.now,
      environment: {
        RELAY_MAXIMUM_NOTIFICATIONS_QUEUED: '1',
        RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '60',
      },
      timings: { delayDivisor: 1 },
    });
    const { notify, addFcm, faults } = relay;
    const id = await addFcm('fcm-1');
    await faults([{ vendor: 'fcm', status: 503, times: 1 }]);
    await notify([fcmRequest(id)]);
    const many = Array.from({ length: 50 }, () => fcmRequest(id));
    for (let again = 0; again < 3; again += 1) {
      expect((await notify(many)).body.code).toBe('SERVICE_UNAVAILABLE');
    }
    await tryStored(relay);
    expect((await notify(many)).status).toBe(200);
  });

  it('answers 503 when the queue is as long as it may be', async () => {
    relay = await startDeliveriesUnderTest({
      environment: { RELAY_MAXIMUM_NOTIFICATIONS_QUEUED: '1' },
      timings: { delayDivisor: 1 },
    });
    const { notify, addFcm, faults, metrics } = relay;
    const id = await addFcm('fcm-1');
    await faults([{ vendor: 'fcm', status: 503, times: 1 }]);
    expect((await notify([fcmRequest(id)])).body.results[0]?.status).toBe('queued');
    expect(await metrics.text()).toContain('waxwing_deliveries_queued 1');
    const refused = await notify([fcmRequest(id)]);
    expect([refused.status, refused.body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    // What adds nothing to the queue is answered.
    expect((await notify([])).status).toBe(200);
    await tryStored(relay);
    expect(await metrics.text()).toContain('waxwing_deliveries_queued 0');
    expect((await notify([fcmRequest(id)])).status).toBe(200);
  });

  it('notices that another process has emptied the queue', async () => {
    relay = await startDeliveriesUnderTest({
      environment: { RELAY_MAXIMUM_NOTIFICATIONS_QUEUED: '1' },
      timings: { delayDivisor: 1, queueCountMilliseconds: 20 },
    });
    const { notify, addFcm, faults, metrics, database } = relay;
    const id = await addFcm('fcm-1');
    await faults([{ vendor: 'fcm', status: 503, times: 1 }]);
    await notify([fcmRequest(id)]);
    expect((await notify([fcmRequest(id)])).status).toBe(503);
    await database.write(({ db }) => db.updateTable('delivery_receipts').set({ status: 'sent' }).execute());
    await until(async () => (await metrics.text()).includes('waxwing_deliveries_queued 0'));
    expect((await notify([fcmRequest(id)])).status).toBe(200);
  });
});

describe('a request that takes longer than its budget', () => {
  /** Milliseconds: for what is asked meanwhile to be answered before it, also by a slow machine. */
  const answersLate = 2000;

  /** Ends the wait for vendors once FCM has so many requests, as the end of the budget does. */
  async function spendBudgetOnce({ statistics, deliveries }: DeliveriesUnderTest, requests: number) {
    await until(async () => (await statistics()).fcm.requests >= requests);
    deliveries.waitNoLonger();
  }

  it('is answered in time with what is still under way queued, and nothing is sent twice', async () => {
    relay = await startDeliveriesUnderTest({ timings: { requestBudgetMilliseconds: 2000 } });
    const { notify, addApns, faults, settled, arrived, metrics, database } = relay;
    const quick = await addApns(apnsToken(1));
    const slow = await addApns(apnsToken(2));
    await notify([apnsRequest(quick)]);
    await faults([{ vendor: 'apns', token: apnsToken(2), latency_ms: 3000 }]);
    const { body } = await notify([apnsRequest(quick), apnsRequest(slow)]);
    // It would be `sent` if the answer had waited for the vendor's.
    expect(body.results).toMatchObject([{ status: 'sent' }, { status: 'queued', reason: 'UNDER_WAY' }]);
    expect(await settled(body.results[1]?.notification_id)).toMatchObject({ status: 'sent' });
    // The stored try finds that nothing is left to do.
    await tryStored(relay);
    expect(await database.jobs.list({ kind: 'deliver-notification' })).toEqual([]);
    expect(await arrived(apnsToken(2))).toHaveLength(1);
    expect(await metrics.text()).toContain('waxwing_deliveries_in_flight 0');
  });

  it('is not sent after the budget by a first try that waited for an access token, beside the stored one', async () => {
    relay = await startDeliveriesUnderTest({ timings: { requestBudgetMilliseconds: 100 } });
    const { notify, addFcm, faults, settled, arrived, database } = relay;
    const id = await addFcm('fcm-1');
    await faults([{ vendor: 'oauth', latency_ms: 1500 }]);
    const { body } = await notify([fcmRequest(id)]);
    expect(body.results[0]).toMatchObject({ status: 'queued', reason: 'UNDER_WAY' });
    for (const { id: stored } of await database.jobs.list({ kind: 'deliver-notification' })) {
      expect(await database.jobs.retry(stored)).toBe(true);
    }
    expect(await settled(body.results[0]?.notification_id)).toMatchObject({ status: 'sent' });
    expect(await arrived('fcm-1')).toHaveLength(1);
  });

  it('keeps what came of it when the stored try comes too late, as after a long restart', async () => {
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

  it('is told what is rejected because it would be too old later, and nothing leaves the queue for that', async () => {
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
    ['a minute where FCM says 429', { status: 429 }, 'QUOTA_EXCEEDED', 60],
    ['as long as FCM asks', { status: 503, retry_after: 600 }, 'UNAVAILABLE', 600],
  ])('waits %s, however late that is said', async (_name, answer, reason, seconds) => {
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
    // The try that was stored while the first was under way is due.
    await tryStored(relay);
    expect(await arrived('fcm-1')).toEqual([]);
    expect(await receipt()).toMatchObject({ status: 'queued', reason, attempts: 1 });
    const jobs = await waiting();
    expect(jobs).toHaveLength(1);
    expect(jobs[0]?.at).toBeGreaterThanOrEqual(time.now + seconds * 1000);
  });
});

describe('a relay without an apps file', () => {
  it('rejects every notification, says why in answer and log, and keeps the devices', async () => {
    relay = await startDeliveriesUnderTest({
      environment: {
        RELAY_APPS_FILE: undefined,
        RELAY_FCM_BASE_URL: undefined,
        RELAY_APNS_PRODUCTION_URL: undefined,
        RELAY_APNS_SANDBOX_URL: undefined,
        RELAY_APNS_CA_FILE: undefined,
      },
    });
    const id = await relay.addFcm('fcm-1');
    const { status, body } = await relay.notify([fcmRequest(id)]);
    expect(status).toBe(200);
    expect(body.results).toEqual([
      { status: 'rejected', reason: 'DELIVERY_NOT_CONFIGURED', fault: 'relay-configuration' },
    ]);
    expect(body.delete_device_ids).toEqual([]);
    expect(relay.log.text()).toContain('RELAY_APPS_FILE is not set');
    expect(relay.log.lines().filter(({ reason }) => reason === 'DELIVERY_NOT_CONFIGURED')).toMatchObject([
      { level: 'error' },
    ]);
  });
});
