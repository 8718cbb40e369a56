import { relayAppsPath } from '@waxwing/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addServer } from '#relay/servers/manage-servers.js';
import { type DeliveriesUnderTest, fcmRequest, startDeliveriesUnderTest } from './deliveries-under-test.js';

const otherRealm = '11111111-2222-4333-8444-555555555555';
const time = { now: Date.UTC(2026, 0, 5, 12) };
let relay: DeliveriesUnderTest;
let realmUuid: string;
beforeAll(async () => {
  relay = await startDeliveriesUnderTest({
    clock: () => time.now,
    environment: { RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '60' },
    timings: { delayDivisor: 1 },
  });
  const { db } = relay.database;
  ({ uuid: realmUuid } = await db.selectFrom('realms').select('uuid').executeTakeFirstOrThrow());
});
afterAll(() => relay.close());

async function askApps(realm = realmUuid, authorization = relay.authorization) {
  const url = `${relayAppsPath}?realm_uuid=${realm}`;
  const answer = await relay.app.inject({ url, headers: { authorization } });
  return { status: answer.statusCode, body: answer.json() };
}

describe("the operation that returns a realm's apps", () => {
  it('returns no apps for a realm without devices, but reports credentials', async () => {
    expect((await askApps()).body).toMatchObject({ has_credentials: true, apps: [] });
  });

  it('counts the devices of each app in this realm only', async () => {
    const { serverId } = await addServer(
      relay.database,
      { name: 'other', realmUuids: [otherRealm] },
      time.now,
    );
    expect(serverId).toBeTruthy();
    const { id: realm } = await relay.database.db
      .selectFrom('realms')
      .select('id')
      .where('uuid', '=', otherRealm)
      .executeTakeFirstOrThrow();
    await relay.addFcm('theirs', { realm });
    await relay.addFcm('one');
    await relay.addFcm('two');
    await relay.addApns('aa'.repeat(32), { appId: 'org.example.app' });
    expect((await askApps()).body.apps).toEqual([
      { vendor: 'apns', ios_app_id: 'org.example.app', devices: 1, trouble: null },
      { vendor: 'fcm', devices: 2, trouble: null },
    ]);
  });

  it('reports a vendor outage from a minute after its start until its end', async () => {
    const troubleOfFcm = async () => (await askApps()).body.apps[1].trouble;
    const device = await relay.addFcm('three');
    await relay.faults([{ vendor: 'fcm', status: 503, reason: 'UNAVAILABLE' }]);
    await relay.notify([fcmRequest(device)]);
    expect(await troubleOfFcm()).toBeNull();
    time.now += 61_000;
    await relay.notify([fcmRequest(device)]);
    expect(await troubleOfFcm()).toBe('vendor-outage');
    await relay.faults([]);
    time.now += 61_000;
    await relay.notify([fcmRequest(device)]);
    expect(await troubleOfFcm()).toBeNull();
  });

  it('refuses foreign, unknown and malformed realms, wrong keys, and requests above the quota', async () => {
    expect((await askApps(otherRealm)).body.code).toBe('REMOTE_REALM_SERVER_MISMATCH_ERROR');
    const unknown = await askApps('99999999-2222-4333-8444-555555555555');
    expect([unknown.status, unknown.body.code]).toEqual([403, 'MISSING_REMOTE_REALM']);
    expect((await askApps('x')).body.code).toBe('BAD_REQUEST');
    expect((await askApps(realmUuid, 'Basic eDp5')).body.code).toBe('UNAUTHORIZED');
    let last = await askApps();
    for (let count = 0; count < 60 && last.status === 200; count += 1) last = await askApps();
    expect([last.status, last.body.code]).toEqual([503, 'RATE_LIMIT_HIT']);
  });
});
