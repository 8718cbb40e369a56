import type { PushAccountId } from '@waxwing/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BreakerStore } from '#relay/deliveries/breakers/breaker-store.js';
import { addServer } from '#relay/servers/manage-servers.js';
import type { RealmId } from '#relay/servers/server-tables.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  encryptedData,
  fcmRequest,
  realmUuid,
  startDeliveriesUnderTest,
  until,
} from './deliveries-under-test.js';

const otherRealm = '11111111-2222-4333-8444-555555555555';
const time = { now: Date.UTC(2026, 0, 5, 12) };
let relay: DeliveriesUnderTest;
beforeEach(async () => {
  relay = await startDeliveriesUnderTest({
    clock: () => time.now,
    timings: { delayDivisor: 1, queueCountMilliseconds: 100 },
  });
});
afterEach(() => relay.close());

describe.each(['Unregistered', 'ExpiredToken'])('%s', (reason) => {
  it.each([
    ["deletes a device that registered before Apple's timestamp", -1, 'gone'],
    ["spares a device that registered exactly at Apple's timestamp", 0, 'rejected'],
    ["spares a device that registered after Apple's timestamp", 1, 'rejected'],
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

  it('spares a device that registers during the request to Apple', async () => {
    const token = apnsToken(1);
    const id = await relay.addApns(token);
    await relay.faults([{ vendor: 'apns', token, reason, timestamp: time.now - 1000, latency_ms: 1500 }]);
    const answer = relay.notify([apnsRequest(id)]);
    await until(async () => {
      const { faults_fired } = await relay.statistics();
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
    ['no timestamp', undefined],
    ['a timestamp that is a string', '2026-01-05T11:00:00Z'],
    ['a fractional timestamp', time.now - 1000.5],
    ['an excessive timestamp', 1e300],
  ])('deletes nothing if the response has %s', async (_name, timestamp) => {
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
  it("makes the relay try Apple's other environment, and remember that environment", async () => {
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
    const { apns } = await relay.statistics();
    expect(apns.production.requests).toBe(1);
  });

  it('deletes the device if both environments return it', async () => {
    const token = apnsToken(3);
    const id = await relay.addApns(token, { environment: 'sandbox' });
    await relay.faults([{ vendor: 'apns', token, reason: 'BadDeviceToken' }]);
    const { body } = await relay.notify([apnsRequest(id)]);
    expect(body.results).toEqual([{ status: 'gone', reason: 'BadDeviceToken' }]);
  });

  it.each([
    ['is busy', { status: 503 }, { status: 'queued', reason: 'ServiceUnavailable' }],
    [
      'refuses the key',
      { reason: 'BadEnvironmentKeyIdInToken' },
      { status: 'rejected', reason: 'BadDeviceToken', fault: 'registration' },
    ],
  ])('deletes nothing if the other environment %s', async (_name, answer, expected) => {
    const token = apnsToken(4);
    const id = await relay.addApns(token);
    await relay.faults([
      { vendor: 'apns', environment: 'production', token, reason: 'BadDeviceToken' },
      { vendor: 'apns', environment: 'sandbox', token, ...answer },
    ]);
    const { body } = await relay.notify([apnsRequest(id)]);
    expect(body.results[0]).toMatchObject(expected);
    expect((await relay.device(id)).expired_at).toBeNull();
    expect((await relay.ready()).checks.vendors).toBe('ok');
  });
});

describe('a sudden wave of dead tokens', () => {
  /** Account of each device. Each device belongs to a different user, as most phones of a relay do. */
  const accounts = new Map<number, PushAccountId>();
  let people = 0;
  async function addPerson(token: string, more: { realm?: RealmId } = {}): Promise<number> {
    people += 1;
    const account = BigInt(people) as PushAccountId;
    const id = await relay.addFcm(token, { ...more, account });
    accounts.set(id, account);
    return id;
  }
  async function addMany(prefix: string, count: number): Promise<number[]> {
    const ids: number[] = [];
    for (let index = 0; index < count; index += 1) ids.push(await addPerson(`${prefix}-${index}`));
    return ids;
  }
  const wave = { vendor: 'fcm', reason: 'UNREGISTERED' };
  const notify = (ids: readonly number[], more = {}) =>
    relay.notify(
      ids.map((id) => {
        const payload = { push_account_id: accounts.get(id) ?? null, encrypted_data: encryptedData };
        return fcmRequest(id, { payload });
      }),
      more,
    );
  const metric = /waxwing_app_breaker_open\{app="fcm:[^"]+",kind="deletion"\} 1/;

  it('freezes deletions but not deliveries until an operator confirms the deletions', async () => {
    const ids = await addMany('fcm', 100);
    await relay.faults([wave]);
    const { body } = await notify(ids);
    const dead = body.results.filter(({ status }) => status === 'gone');
    expect(dead).toHaveLength(20);
    expect(body.delete_device_ids).toHaveLength(20);
    const frozen = body.results.filter(({ status }) => status === 'rejected');
    expect(frozen).toHaveLength(80);
    expect(frozen[0]).toMatchObject({ reason: 'DELETIONS_FROZEN_UNREGISTERED', fault: 'vendor' });
    expect(await relay.metrics.text()).toMatch(metric);
    expect(await relay.ready()).toMatchObject({ ready: true });
    const alerts = relay.log
      .lines()
      .filter((line) => line.msg?.toString().startsWith('deletions are frozen'));
    expect(alerts).toMatchObject([{ level: 'error', scope: `realm ${realmUuid}` }]);

    await relay.faults([]);
    const alive = await relay.addFcm('fcm-alive');
    expect((await relay.notify([fcmRequest(alive)])).body.results).toEqual([{ status: 'sent' }]);

    const store = new BreakerStore(relay.database);
    const [breaker] = await store.list();
    expect(breaker).toMatchObject({ kind: 'deletion', confirmedAt: undefined });
    expect(await store.confirm(breaker?.app ?? '', time.now)).toBe(true);
    expect(await store.confirm(breaker?.app ?? '', time.now)).toBe(false);
    time.now += 3000;
    expect((await relay.ready()).checks.vendors).toBe('ok');
    await relay.faults([wave]);
    const again = await notify(ids.slice(50));
    expect(again.body.results.every(({ status }) => status === 'gone')).toBe(true);
    expect((await relay.ready()).checks.vendors).toBe('ok');
  });

  it('is not detected if the share of dead tokens is usual', async () => {
    const ids = await addMany('fcm', 300);
    const dead = ids.filter((_id, index) => index % 10 === 0);
    await relay.faults(dead.map((id) => ({ ...wave, token: `fcm-${ids.indexOf(id)}` })));
    const { body } = await notify(ids);
    expect([...body.delete_device_ids].sort((a, b) => a - b)).toEqual(dead);
  });

  it('leaves deletions frozen after a restart', async () => {
    const ids = await addMany('fcm', 40);
    await relay.faults([wave]);
    await notify(ids);
    await relay.close({ keepData: true });
    relay = await startDeliveriesUnderTest({
      clock: () => time.now,
      dir: relay.dir,
      ring: relay.ring,
    });
    expect(await relay.metrics.text()).toMatch(metric);
    const [breaker] = await new BreakerStore(relay.database).list();
    expect(breaker).toMatchObject({ scope: `realm ${realmUuid}`, confirmedAt: undefined });
  });

  it('stops freezing deletions after an hour with a usual share of dead tokens', async () => {
    const ids = await addMany('fcm', 30);
    const alive = await addMany('fcm-alive', 90);
    await relay.faults(ids.map((_id, index) => ({ ...wave, token: `fcm-${index}` })));
    await notify(ids);
    expect(await relay.metrics.text()).toMatch(metric);
    await notify(alive);
    time.now += 60 * 60_000;
    await until(async () => !metric.test(await relay.metrics.text()));
    expect((await notify(ids.slice(25))).body.delete_device_ids).toEqual(ids.slice(25));
  });

  it('freezes no deletions of other accounts if a single member causes it', async () => {
    const other = await addServer(relay.database, { name: 'other', realmUuids: [otherRealm] }, time.now);
    const { id: realm } = await relay.database.db
      .selectFrom('realms')
      .select('id')
      .where('uuid', '=', otherRealm)
      .executeTakeFirstOrThrow();
    const ofMember = await addMany('member', 25);
    const [dead, alive] = [await addPerson('dead', { realm }), await addPerson('alive', { realm })];
    await relay.faults([
      { ...wave, token: 'dead' },
      ...ofMember.map((_id, index) => ({ ...wave, token: `member-${index}` })),
    ]);
    await notify(ofMember);
    const key = `${other.serverId}:${other.serverKey.reveal()}`;
    const authorization = `Basic ${Buffer.from(key).toString('base64')}`;
    const { body } = await notify([dead, alive], { authorization, body: { realm_uuid: otherRealm } });
    expect(body.results.map(({ status }) => status)).toEqual(['gone', 'sent']);
    expect((await relay.ready()).checks.vendors).toBe('ok');
  });
});
