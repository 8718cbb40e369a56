import { randomUUID } from 'node:crypto';
import { formatPushAccountId, relayReceiptsPath } from '@waxwing/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addServer } from '#relay/servers/manage-servers.js';
import { idle } from '../../../support/idle.js';
import {
  type DeliveriesUnderTest,
  fcmRequest,
  pushAccountId,
  startDeliveriesUnderTest,
  until,
} from './deliveries-under-test.js';

const otherRealm = '11111111-2222-4333-8444-555555555555';
const time = { now: Date.UTC(2026, 0, 5, 12) };
let relay: DeliveriesUnderTest;
beforeEach(async () => {
  relay = await startDeliveriesUnderTest({
    clock: () => time.now,
    environment: { RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '60' },
    timings: { delayDivisor: 1 },
  });
});
afterEach(() => relay.close());

/** Adds a second server with its own realm and phone. */
async function addTenant() {
  const { serverId, serverKey } = await addServer(
    relay.database,
    // This id sorts first, so a look-up that ignored the server would find its row.
    { serverId: '00000000-0000-4000-8000-000000000000', name: 'other', realmUuids: [otherRealm] },
    time.now,
  );
  const { id: realm } = await relay.database.db
    .selectFrom('realms')
    .select('id')
    .where('uuid', '=', otherRealm)
    .executeTakeFirstOrThrow();
  const authorization = `Basic ${Buffer.from(`${serverId}:${serverKey.reveal()}`).toString('base64')}`;
  const notify = (requests: readonly object[]) =>
    relay.notify(requests, { authorization, body: { realm_uuid: otherRealm } });
  return { serverId, authorization, notify, phone: await relay.addFcm('theirs', { realm }) };
}

function askReceipts(authorization: string, id: string = randomUUID()) {
  return relay.app.inject({
    method: 'GET',
    url: `${relayReceiptsPath}?ids=${id}`,
    headers: { authorization },
  });
}

describe('a notification whose id and device another server also names', () => {
  it("is not affected by the relay's response to that server", async () => {
    const other = await addTenant();
    const ours = await relay.addFcm('ours');
    const request = fcmRequest(ours, { notification_id: randomUUID() });
    expect((await other.notify([request])).body.results).toMatchObject([{ status: 'gone' }]);
    expect((await relay.notify([request])).body.results).toMatchObject([{ status: 'sent' }]);
    expect(await relay.arrived('ours')).toHaveLength(1);
  });

  it('is not affected by a receipt of that server', async () => {
    const other = await addTenant();
    const ours = await relay.addFcm('ours');
    const notification_id = randomUUID();
    await relay.database.write(({ db }) =>
      db
        .insertInto('delivery_receipts')
        .values({
          server_id: other.serverId,
          notification_id,
          relay_device_id: ours,
          status: 'sent',
          push_account_id: formatPushAccountId(pushAccountId),
          reason: null,
          fault: null,
          attempts: 1,
          updated_at: time.now,
          doubts: 0,
          not_before: null,
        })
        .execute(),
    );
    const { body } = await relay.notify([fcmRequest(ours, { notification_id })]);
    expect(body.results).toMatchObject([{ status: 'sent' }]);
    expect(await relay.arrived('ours')).toHaveLength(1);
    expect((await askReceipts(other.authorization, notification_id)).json().receipts).toHaveLength(1);
    expect(await relay.receipts([notification_id])).toHaveLength(1);
  });

  it('is not affected by a concurrent request from that server', async () => {
    const other = await addTenant();
    const ours = await relay.addFcm('ours');
    const request = fcmRequest(ours, { notification_id: randomUUID() });
    await relay.faults([{ vendor: 'fcm', token: 'theirs', latency_ms: 1000 }]);
    const slow = other.notify([fcmRequest(other.phone, { notification_id: randomUUID() }), request]);
    await until(async () => {
      const { faults_fired } = await relay.statistics();
      return faults_fired[0] === 1;
    });
    expect((await relay.notify([request])).body).toMatchObject({
      results: [{ status: 'sent' }],
      delete_device_ids: [],
    });
    expect((await slow).body.results.map(({ status }) => status)).toEqual(['sent', 'gone']);
  });

  it('is retried although that server got "gone"', async () => {
    const other = await addTenant();
    const ours = await relay.addFcm('ours');
    const notification_id = randomUUID();
    const request = fcmRequest(ours, { notification_id });
    await relay.faults([{ vendor: 'fcm', token: 'ours', status: 503, times: 1 }]);
    // Stored first, so a look-up that ignored the server would find this row.
    expect((await other.notify([request])).body.results).toMatchObject([{ status: 'gone' }]);
    expect((await relay.notify([request])).body.results).toMatchObject([{ status: 'queued' }]);
    time.now += 20_000;
    await idle(relay.database.jobs);
    expect(await relay.receipts([notification_id])).toMatchObject([{ status: 'sent' }]);
    expect(await relay.arrived('ours')).toHaveLength(1);
  });
});

describe('a server’s quota', () => {
  it('is charged one unit for each receipts request', async () => {
    const { authorization } = relay;
    for (let asked = 0; asked < 60; asked += 1) {
      expect((await askReceipts(authorization)).statusCode).toBe(200);
    }
    const refused = await askReceipts(authorization);
    expect([refused.statusCode, refused.json().code]).toEqual([503, 'RATE_LIMIT_HIT']);
    expect(refused.headers['retry-after']).toBe('1');
  });

  it('is charged for an empty notify request', async () => {
    for (let asked = 0; asked < 60; asked += 1) expect((await relay.notify([])).status).toBe(200);
    expect((await relay.notify([])).body.code).toBe('RATE_LIMIT_HIT');
  });

  it('is charged for notify requests with an unknown realm, so that probing realms is not free', async () => {
    const strange = { body: { realm_uuid: randomUUID() } };
    for (let asked = 0; asked < 60; asked += 1) expect((await relay.notify([], strange)).status).toBe(403);
    expect((await relay.notify([], strange)).body.code).toBe('RATE_LIMIT_HIT');
  });

  it('is not charged for the requests of another server', async () => {
    const other = await addTenant();
    const ours = await relay.addFcm('ours');
    await relay.notify(Array.from({ length: 60 }, () => fcmRequest(ours)));
    expect((await relay.notify([fcmRequest(ours)])).body.code).toBe('RATE_LIMIT_HIT');
    expect((await other.notify([fcmRequest(other.phone)])).body.results).toEqual([{ status: 'sent' }]);
  });
});
