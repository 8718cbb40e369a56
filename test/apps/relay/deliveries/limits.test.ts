import { relayRegisterPath } from '@waxwing/protocol';
import { bindOperations, createHttpApp } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import { afterEach, describe, expect, it } from 'vitest';
import type { RegistrationBatches } from '#relay/registrations/opening/registration-batches.js';
import { registerDevice } from '#relay/registrations/operations/register-device.js';
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

describe('a server over its quota', () => {
  it('gets 503 with RATE_LIMIT_HIT until the time in Retry-After', async () => {
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
    // An idle server accumulates at most the quota of one minute.
    time.now += 3_600_000;
    expect((await relay.notify(many)).status).toBe(200);
    expect((await relay.notify(many)).status).toBe(503);
  });

  it('may send one request above its quota after an idle minute, which is fully charged', async () => {
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

  it('is charged for invalid bodies, and then refused before its body is parsed', async () => {
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
    // Requests above the quota are not charged, even if the server repeats them.
    expect((await relay.notify(Array.from({ length: 20 }, () => fcmRequest(id)))).status).toBe(200);
    for (let count = 0; count < 5; count += 1) {
      expect((await relay.notify(Array.from({ length: 41 }, () => fcmRequest(id)))).status).toBe(503);
    }
    expect((await relay.notify(Array.from({ length: 40 }, () => fcmRequest(id)))).status).toBe(200);
  });

  it('stays over its quota after a restart of the relay', async () => {
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

    it('share one quota for a server', async () => {
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
      const used = async () => {
        const rows = database.db.selectFrom('server_quotas').select('used_milliseconds');
        return (await rows.executeTakeFirst())?.used_milliseconds ?? 0;
      };
      await until(async () => (await used()) > 0);
      const other = second;
      let granted = 0;
      let usedBefore = await used();
      let refused = await other.notify([], { authorization });
      while (refused.status === 200) {
        granted += 1;
        // Waits until the other relay has exchanged its usage, because the shared quota must refuse the request, not
        // the relay's own.
        await until(async () => (await used()) > usedBefore);
        usedBefore = await used();
        refused = await other.notify([], { authorization });
      }
      expect(granted).toBeLessThan(60);
      expect([refused.status, refused.body.code]).toEqual([503, 'RATE_LIMIT_HIT']);
      time.now += 60_000;
      expect((await other.notify([], { authorization })).status).toBe(200);
    });
  });
});

describe('a server that registers too much', () => {
  it('gets 503, because a stock server would give up the registration after 429', async () => {
    relay = await startDeliveriesUnderTest();
    const clock = () => Date.now();
    const context = {
      servers: new ServerDirectory(relay.database.db, clock, { noteSeen: () => undefined }),
      // Not used, because the request lacks parameters.
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
  it('responds with 503 and Retry-After while too many notifications are in flight', async () => {
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

  it('does not charge a server for refused requests', async () => {
    const time = { now: Date.UTC(2026, 0, 5, 12) };
    relay = await startDeliveriesUnderTest({
      clock: () => time.now,
      environment: {
        RELAY_MAXIMUM_NOTIFICATIONS_QUEUED: '1',
        RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '60',
      },
      timings: { delayDivisor: 1 },
    });
    const { notify, addFcm, faults, database } = relay;
    const id = await addFcm('fcm-1');
    await faults([{ vendor: 'fcm', status: 503, times: 1 }]);
    await notify([fcmRequest(id)]);
    const many = Array.from({ length: 50 }, () => fcmRequest(id));
    for (let again = 0; again < 3; again += 1) {
      expect((await notify(many)).body.code).toBe('SERVICE_UNAVAILABLE');
    }
    for (const job of await database.jobs.list({ kind: 'deliver-notification' })) {
      await database.jobs.retry(job.id);
    }
    await idle(database.jobs);
    expect((await notify(many)).status).toBe(200);
  });

  it('responds with 503 while the queue is full', async () => {
    relay = await startDeliveriesUnderTest({
      environment: { RELAY_MAXIMUM_NOTIFICATIONS_QUEUED: '1' },
      timings: { delayDivisor: 1 },
    });
    const { notify, addFcm, faults, metrics, database } = relay;
    const id = await addFcm('fcm-1');
    await faults([{ vendor: 'fcm', status: 503, times: 1 }]);
    expect((await notify([fcmRequest(id)])).body.results[0]?.status).toBe('queued');
    expect(await metrics.text()).toContain('waxwing_deliveries_queued 1');
    const refused = await notify([fcmRequest(id)]);
    expect([refused.status, refused.body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    // The relay still accepts requests that add nothing to the queue.
    expect((await notify([])).status).toBe(200);
    for (const job of await database.jobs.list({ kind: 'deliver-notification' })) {
      await database.jobs.retry(job.id);
    }
    await idle(database.jobs);
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

describe('a relay without an apps file', () => {
  it('rejects every notification with a reason, but keeps the devices', async () => {
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
