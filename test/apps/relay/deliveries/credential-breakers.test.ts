import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BreakerStore } from '#relay/deliveries/breakers/breaker-store.js';
import { idle } from '../../../support/idle.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  fcmRequest,
  startDeliveriesUnderTest,
} from './deliveries-under-test.js';

const minute = 60_000;
const time = { now: Date.UTC(2026, 0, 5, 12) };
let relay: DeliveriesUnderTest;
beforeEach(async () => {
  relay = await startDeliveriesUnderTest({ clock: () => time.now, timings: { delayDivisor: 1 } });
});
afterEach(() => relay.close());

async function notifyOne(request: object) {
  const { body } = await relay.notify([request]);
  return body.results[0] ?? { status: 'none' };
}

describe('a probe of a refused credential', () => {
  it('is a single notification even if many arrive together, and spreads the retries of the others', async () => {
    const { addApns, faults, notify, statistics, database } = relay;
    const requests = async () => {
      const { apns } = await statistics();
      return apns.production.requests;
    };
    const request = apnsRequest(await addApns(apnsToken(1)));
    await faults([{ vendor: 'apns', reason: 'InvalidProviderToken', latency_ms: 100 }]);
    await notify([request]);
    time.now += minute - 1;
    await notify([request, request]);
    expect(await requests()).toBe(1);
    for (const job of await database.jobs.list({ kind: 'deliver-notification' })) {
      await database.jobs.drop(job.id);
    }
    time.now += 1;
    await notify(Array.from({ length: 10 }, () => request));
    expect(await requests()).toBe(2);
    const instants = (await database.jobs.list({ kind: 'deliver-notification' })).map(({ at }) => at);
    expect(instants).toHaveLength(10);
    expect(new Set(instants).size).toBeGreaterThan(8);
  });

  it('is not used up when the relay tries a token in the other environment', async () => {
    const { addApns, faults, receipts, database } = relay;
    await faults([
      { vendor: 'apns', environment: 'sandbox', reason: 'InvalidProviderToken' },
      { vendor: 'apns', environment: 'production', token: apnsToken(1), reason: 'BadDeviceToken' },
    ]);
    const held = await notifyOne(apnsRequest(await addApns(apnsToken(2), { environment: 'sandbox' })));
    expect(held).toMatchObject({ status: 'queued', reason: 'InvalidProviderToken' });
    time.now += minute + 1;
    // Apple's production environment does not know the token, and its sandbox refuses the credential.
    const doubtful = await notifyOne(apnsRequest(await addApns(apnsToken(1))));
    expect(doubtful).toMatchObject({ status: 'rejected', reason: 'BadDeviceToken' });
    await faults([]);
    for (let rest = 0; rest < 3; rest += 1) {
      time.now += minute + 1;
      await idle(database.jobs);
    }
    expect(await receipts([held.notification_id])).toMatchObject([{ status: 'sent' }]);
    expect((await relay.ready()).checks.vendors).toBe('ok');
  });

  it('succeeds if the other environment knows the token', async () => {
    const { addApns, faults, ready } = relay;
    const elsewhere = await addApns(apnsToken(1));
    await faults([{ vendor: 'apns', environment: 'production', reason: 'InvalidProviderToken' }]);
    expect(await notifyOne(apnsRequest(elsewhere, { ttl_seconds: 5 }))).toMatchObject({ status: 'rejected' });
    expect((await ready()).checks.vendors).toContain('warning: ');
    time.now += minute + 1;
    await faults([
      { vendor: 'apns', environment: 'production', token: apnsToken(1), reason: 'BadDeviceToken' },
    ]);
    expect(await notifyOne(apnsRequest(elsewhere))).toEqual({ status: 'sent' });
    expect((await ready()).checks.vendors).toBe('ok');
    expect(await notifyOne(apnsRequest(await addApns(apnsToken(2))))).toEqual({ status: 'sent' });
  });

  it('proves nothing if the vendor is busy', async () => {
    const { addFcm, faults, ready, database } = relay;
    const id = await addFcm('fcm-1');
    await faults([
      { vendor: 'oauth', reason: 'invalid_grant', times: 1 },
      { vendor: 'oauth', status: 503 },
    ]);
    expect(await notifyOne(fcmRequest(id))).toMatchObject({ status: 'queued', reason: 'OAUTH_REFUSED' });
    time.now += minute + 1;
    expect((await notifyOne(fcmRequest(id))).status).toBe('queued');
    await idle(database.jobs);
    expect((await relay.statistics()).faults_fired).toEqual([1, 1]);
    expect((await ready()).checks.vendors).toContain('OAUTH_REFUSED');
    const metric = /waxwing_app_breaker_open\{app="fcm:[^"]+",kind="credential"\} 1/;
    expect(await relay.metrics.text()).toMatch(metric);
    await faults([]);
    time.now += minute + 1;
    await notifyOne(fcmRequest(id));
    await idle(database.jobs);
    expect((await ready()).checks.vendors).toBe('ok');
    expect(await relay.metrics.text()).not.toMatch(metric);
  });
});

describe('a credential that works again while the database is unavailable', () => {
  it('causes no resend, and its stored breaker is deleted once the database is back', async () => {
    const { addFcm, faults, database, arrived } = relay;
    const id = await addFcm('fcm-1');
    await faults([{ vendor: 'fcm', reason: 'PERMISSION_DENIED' }]);
    await notifyOne(fcmRequest(id, { ttl_seconds: 5 }));
    await faults([]);
    time.now += minute + 1;
    const away = new Error('the database is away');
    // A successful probe calls `close` twice.
    const close = vi
      .spyOn(BreakerStore.prototype, 'close')
      .mockRejectedValueOnce(away)
      .mockRejectedValueOnce(away);
    expect(await notifyOne(fcmRequest(id))).toEqual({ status: 'sent' });
    const rows = () => database.db.selectFrom('app_breakers').selectAll().execute();
    expect(await rows()).toHaveLength(1);
    expect(await notifyOne(fcmRequest(id))).toEqual({ status: 'sent' });
    expect(await rows()).toEqual([]);
    await notifyOne(fcmRequest(id));
    expect(close).toHaveBeenCalledTimes(3);
    expect(await arrived('fcm-1')).toHaveLength(3);
    close.mockRestore();
  });
});

describe('a circuit breaker that another process has deleted', () => {
  it('is stored again after the next probe, with its original time', async () => {
    const { addFcm, faults, database } = relay;
    const id = await addFcm('fcm-1');
    await faults([{ vendor: 'fcm', reason: 'PERMISSION_DENIED' }]);
    await notifyOne(fcmRequest(id));
    const since = time.now;
    await database.write(({ db }) => db.deleteFrom('app_breakers').execute());
    time.now += minute + 1;
    await notifyOne(fcmRequest(id));
    await idle(database.jobs);
    const rows = await database.db.selectFrom('app_breakers').selectAll().execute();
    expect(rows).toMatchObject([{ reason: expect.stringContaining('PERMISSION_DENIED'), opened_at: since }]);
    expect(relay.log.text().split('was refused')).toHaveLength(2);
  });
});

describe('a credential that is refused for a new reason', () => {
  it('is reported with the new reason, in readiness and by "apps status"', async () => {
    const { addFcm, faults, ready, database } = relay;
    const id = await addFcm('fcm-1');
    await faults([
      { vendor: 'oauth', reason: 'invalid_grant', times: 1 },
      { vendor: 'fcm', reason: 'PERMISSION_DENIED' },
    ]);
    await notifyOne(fcmRequest(id));
    expect((await ready()).checks.vendors).toContain('OAUTH_REFUSED');
    const since = time.now;
    time.now += minute + 1;
    await notifyOne(fcmRequest(id));
    await idle(database.jobs);
    expect((await ready()).checks.vendors).toContain('PERMISSION_DENIED');
    expect((await ready()).checks.vendors).not.toContain('OAUTH_REFUSED');
    const rows = await database.db.selectFrom('app_breakers').selectAll().execute();
    expect(rows).toMatchObject([{ reason: expect.stringContaining('PERMISSION_DENIED'), opened_at: since }]);
  });
});
