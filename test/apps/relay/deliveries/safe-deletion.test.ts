import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BreakerStore } from '../../../../apps/relay/src/deliveries/apps/breaker-store.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  fcmRequest,
  startDeliveriesUnderTest,
  until,
} from './deliveries-under-test.js';

const time = { now: Date.UTC(2026, 0, 5, 12) };
let relay: DeliveriesUnderTest;
beforeEach(async () => {
  relay = await startDeliveriesUnderTest({ clock: () => time.now, timings: { delayDivisor: 1 } });
});
afterEach(() => relay.close());

describe.each(['Unregistered', 'ExpiredToken'])('%s', (reason) => {
  it.each([
    ['deletes a device that registered before the time that Apple names', -1, 'gone'],
    ['spares a device that registered at that very time', 0, 'rejected'],
    ['spares a device that registered after that time', 1, 'rejected'],
  ])('%s', async (_name, offset, status) => {
    const deadSince = time.now - 3_600_000;
    const token = apnsToken(1);
    const id = await relay.addApns(token, { registeredAt: deadSince + offset });
    await relay.faults([{ vendor: 'apns', token, reason, timestamp: deadSince }]);
    const { body } = await relay.notify([apnsRequest(id)]);
    expect(body.results[0]).toMatchObject({ status, reason });
    expect(body.delete_device_ids).toEqual(status === 'gone' ? [id] : []);
    expect((await relay.device(id)).expired_at).toBe(status === 'gone' ? time.now : null);
  });

  it('spares a device that registers while the vendor is asked', async () => {
    const token = apnsToken(1);
    const id = await relay.addApns(token);
    await relay.faults([{ vendor: 'apns', token, reason, timestamp: time.now - 1000, latency_ms: 1500 }]);
    const answer = relay.notify([apnsRequest(id)]);
    await until(async () => {
      const { faults_fired } = (await relay.statistics()) as unknown as { faults_fired: number[] };
      return faults_fired[0] === 1;
    });
    await relay.database.write(({ db }) =>
      db.updateTable('relay_devices').set({ registered_at: time.now }).where('id', '=', id).execute(),
    );
    const { body } = await answer;
    expect(body.results[0]).toMatchObject({ status: 'rejected', reason: 'REGISTERED_SINCE' });
    expect(body.delete_device_ids).toEqual([]);
    expect((await relay.device(id)).expired_at).toBeNull();
  });

  it.each([
    ['without a time', undefined],
    ['with a time that is none', '2026-01-05T11:00:00Z'],
    ['with a time between two milliseconds', time.now - 1000.5],
    ['with a time beyond all calendars', 1e300],
  ])('%s deletes nothing', async (_name, timestamp) => {
    const token = apnsToken(1);
    const id = await relay.addApns(token);
    const said = JSON.stringify({ reason, timestamp });
    await relay.faults([{ vendor: 'apns', token, status: 410, reason, body: said }]);
    const { body } = await relay.notify([apnsRequest(id)]);
    expect(body.results[0]).toMatchObject({ status: 'rejected', reason });
    expect((await relay.device(id)).expired_at).toBeNull();
  });
});

describe('BadDeviceToken', () => {
  it("asks the other of Apple's systems once, delivers there, and remembers which one knew the token", async () => {
    const token = apnsToken(2);
    const id = await relay.addApns(token);
    await relay.faults([{ vendor: 'apns', environment: 'production', token, reason: 'BadDeviceToken' }]);
    for (let round = 0; round < 2; round += 1) {
      const { body } = await relay.notify([apnsRequest(id)]);
      expect(body.results).toEqual([{ status: 'sent' }]);
    }
    expect((await relay.arrived(token)).map(({ environment }) => environment)).toEqual([
      'sandbox',
      'sandbox',
    ]);
    expect((await relay.device(id)).apns_environment).toBe('sandbox');
    const { apns } = (await relay.statistics()) as unknown as { apns: { production: { requests: number } } };
    expect(apns.production.requests).toBe(1);
  });

  it('counts only when both say it', async () => {
    const token = apnsToken(3);
    const id = await relay.addApns(token, { environment: 'sandbox' });
    await relay.faults([{ vendor: 'apns', token, reason: 'BadDeviceToken' }]);
    const { body } = await relay.notify([apnsRequest(id)]);
    expect(body.results).toEqual([{ status: 'gone', reason: 'BadDeviceToken' }]);
  });

  it.each([
    ['is busy', { status: 503 }, { status: 'queued', reason: 'ServiceUnavailable' }],
    [
      'does not take the key',
      { reason: 'BadEnvironmentKeyIdInToken' },
      { status: 'rejected', reason: 'BadDeviceToken', fault: 'registration' },
    ],
  ])('deletes nothing when the other system %s', async (_name, answer, expected) => {
    const token = apnsToken(4);
    const id = await relay.addApns(token);
    await relay.faults([
      { vendor: 'apns', environment: 'production', token, reason: 'BadDeviceToken' },
      { vendor: 'apns', environment: 'sandbox', token, ...answer },
    ]);
    const { body } = await relay.notify([apnsRequest(id)]);
    expect(body.results[0]).toMatchObject(expected);
    expect((await relay.device(id)).expired_at).toBeNull();
    expect((await relay.ready()).ready).toBe(true);
  });
});

describe('a sudden wave of dead tokens', () => {
  async function addMany(prefix: string, count: number): Promise<number[]> {
    const ids: number[] = [];
    for (let index = 0; index < count; index += 1) ids.push(await relay.addFcm(`${prefix}-${index}`));
    return ids;
  }
  const wave = { vendor: 'fcm', reason: 'UNREGISTERED' };

  it('freezes deletions, keeps delivering, alerts, and goes on once an operator has confirmed', async () => {
    const ids = await addMany('fcm', 100);
    await relay.faults([wave]);
    const { body } = await relay.notify(ids.map((id) => fcmRequest(id)));
    const dead = body.results.filter(({ status }) => status === 'gone');
    expect(dead).toHaveLength(20);
    expect(body.delete_device_ids).toHaveLength(20);
    const frozen = body.results.filter(({ status }) => status === 'rejected');
    expect(frozen).toHaveLength(80);
    expect(frozen[0]).toMatchObject({ reason: 'DELETIONS_FROZEN_UNREGISTERED', fault: 'vendor' });
    expect(await relay.metrics.text()).toMatch(
      /waxwing_app_breaker_open\{app="fcm:[^"]+",kind="deletion"\} 1/,
    );
    expect((await relay.ready()).checks.vendors).toContain('deletions are frozen for fcm:');
    expect(relay.log.text()).toContain('deletions are frozen');

    await relay.faults([]);
    const alive = await relay.addFcm('fcm-alive');
    expect((await relay.notify([fcmRequest(alive)])).body.results).toEqual([{ status: 'sent' }]);

    const store = new BreakerStore(relay.database);
    const [breaker] = await store.list();
    expect(breaker).toMatchObject({ kind: 'deletion', confirmedAt: undefined });
    expect(await store.confirm(breaker?.app ?? '', time.now)).toBe(true);
    expect(await store.confirm(breaker?.app ?? '', time.now)).toBe(false);
    time.now += 3000;
    expect((await relay.ready()).ready).toBe(true);
    await relay.faults([wave]);
    const again = await relay.notify(ids.slice(50).map((id) => fcmRequest(id)));
    expect(again.body.results.every(({ status }) => status === 'gone')).toBe(true);
    expect((await relay.ready()).ready).toBe(true);
  });

  it('is no wave where dead tokens are the usual small share', async () => {
    const ids = await addMany('fcm', 300);
    const dead = ids.filter((_id, index) => index % 10 === 0);
    await relay.faults(dead.map((id) => ({ ...wave, token: `fcm-${ids.indexOf(id)}` })));
    const { body } = await relay.notify(ids.map((id) => fcmRequest(id)));
    expect([...body.delete_device_ids].sort((a, b) => a - b)).toEqual(dead);
  });

  it('stays frozen over a restart', async () => {
    const ids = await addMany('fcm', 40);
    await relay.faults([wave]);
    await relay.notify(ids.map((id) => fcmRequest(id)));
    await relay.close({ keepData: true });
    relay = await startDeliveriesUnderTest({
      clock: () => time.now,
      dir: relay.dir,
      tokenVault: relay.tokenVault,
    });
    expect((await relay.ready()).checks.vendors).toContain('deletions are frozen');
  });
});
