import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addServer } from '#relay/servers/manage-servers.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  encryptedData,
  fcmRequest,
  pushAccountId,
  startDeliveriesUnderTest,
  topic,
} from './deliveries-under-test.js';

let relay: DeliveriesUnderTest;
// Each test run uses new tokens, even a retry, because deliveries are looked up by token.
let tokens = 0;
const freshApnsToken = () => apnsToken(tokens++);
// The clock is fixed, so that each notification keeps its full TTL.
const now = Date.now();
beforeAll(async () => {
  relay = await startDeliveriesUnderTest({ clock: () => now });
});
afterEach(() => relay.faults([]));
afterAll(() => relay.close());

describe('a notification for FCM', () => {
  it('arrives as a data message with the account id as a string', async () => {
    const id = await relay.addFcm('fcm-token-1');
    const { status, body } = await relay.notify([fcmRequest(id, { ttl_seconds: 60, collapse_id: 'chat-7' })]);
    expect(status).toBe(200);
    expect(body).toEqual({
      result: 'success',
      msg: '',
      android_successfully_sent_count: 1,
      apple_successfully_sent_count: 0,
      delete_device_ids: [],
      realm_push_status: { can_push: true, expected_end_timestamp: null },
      results: [{ status: 'sent' }],
    });
    const [delivery] = await relay.arrived('fcm-token-1');
    expect(delivery?.body).toEqual({
      message: {
        token: 'fcm-token-1',
        data: { push_account_id: String(pushAccountId), encrypted_data: encryptedData },
        android: { priority: 'HIGH', ttl: '60s', collapse_key: expect.stringMatching(/^[\w-]{43}$/) },
      },
    });
  });
});

describe('a collapse id', () => {
  it('is stable for a device and differs between devices', async () => {
    // One phone in two organizations: each has a device with the same token.
    const token = freshApnsToken();
    const [ours, theirs] = [await relay.addApns(token), await relay.addApns(token)];
    for (const id of [ours, theirs, ours]) await relay.notify([apnsRequest(id, { collapse_id: 'chat-7' })]);
    const ids = (await relay.arrived(token)).map(({ headers }) => headers['apns-collapse-id']);
    expect(ids).toHaveLength(3);
    expect(ids[0]).toBe(ids[2]);
    expect(ids[0]).not.toBe(ids[1]);
    expect(ids.join()).not.toContain('chat-7');
  });
});

describe('a notification for APNs', () => {
  it('arrives with the exact 64-bit account id and the headers that Apple requires', async () => {
    const token = freshApnsToken();
    const id = await relay.addApns(token.toUpperCase());
    const notificationId = randomUUID();
    const { body } = await relay.notify([
      apnsRequest(id, { notification_id: notificationId, collapse_id: 'c' }),
    ]);
    expect(body.results).toEqual([{ status: 'sent', notification_id: notificationId }]);
    expect(body.apple_successfully_sent_count).toBe(1);
    const [delivery] = await relay.arrived(token);
    expect(delivery?.text).toContain(`"push_account_id":${pushAccountId},`);
    expect(delivery?.environment).toBe('production');
    expect(delivery?.body.aps).toEqual({
      alert: { title: 'New notification' },
      'mutable-content': 1,
      sound: 'default',
    });
    expect(delivery?.body.encrypted_data).toBe(encryptedData);
    expect(delivery?.headers).toMatchObject({
      'apns-topic': topic,
      'apns-push-type': 'alert',
      'apns-priority': '10',
      'apns-id': notificationId,
      'apns-collapse-id': expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(Number(delivery?.headers['apns-expiration'])).toBeGreaterThan(now / 1000 + 27 * 86_400);
  });

  it('never contains text that the server chose in aps', async () => {
    const token = freshApnsToken();
    const id = await relay.addApns(token);
    const aps = {
      alert: { title: 'Your password', body: 'Send it to us', 'launch-image': 'x' },
      sound: { name: 'alarm.caf', critical: 1 },
      badge: 99,
      category: 'EVIL',
      'thread-id': 't',
      'mutable-content': 1,
      'content-available': 1,
      'interruption-level': 'critical',
    };
    await relay.notify([
      apnsRequest(id, {}, aps),
      apnsRequest(id, {}, { alert: 'plain words' }),
      apnsRequest(id, {}, {}),
    ]);
    const bodies = (await relay.arrived(token)).map(({ body }) => body.aps);
    expect(bodies).toHaveLength(3);
    expect(bodies).toContainEqual({
      alert: { title: 'New notification' },
      sound: 'default',
      'mutable-content': 1,
      'content-available': 1,
    });
    expect(bodies).toContainEqual({ alert: { title: 'New notification' } });
    expect(bodies).toContainEqual({});
  });

  it('is sent with priority 5 if the server requests a background notification with priority 10', async () => {
    const token = freshApnsToken();
    const id = await relay.addApns(token);
    const http_headers = { apns_priority: 10, apns_push_type: 'background' };
    const { body } = await relay.notify([
      apnsRequest(id, { http_headers, ttl_seconds: 0 }, { 'mutable-content': 1 }),
    ]);
    expect(body.results).toEqual([{ status: 'sent' }]);
    const [delivery] = await relay.arrived(token);
    expect(delivery?.headers).toMatchObject({
      'apns-push-type': 'background',
      'apns-priority': '5',
      'apns-expiration': '0',
    });
  });
});

describe('a notify request', () => {
  it('returns results in order, and the devices that the server must delete', async () => {
    const fcm = await relay.addFcm('fcm-mixed');
    const apns = await relay.addApns(freshApnsToken());
    const unknown = 1n << 60n;
    const tooLong = {
      payload: { push_account_id: pushAccountId, encrypted_data: Buffer.alloc(4000).toString('base64') },
    };
    const { body } = await relay.notify([
      apnsRequest(apns),
      fcmRequest(unknown),
      fcmRequest(apns),
      fcmRequest(999_999),
      fcmRequest(fcm, tooLong),
      fcmRequest(fcm),
    ]);
    expect(body.results).toEqual([
      { status: 'sent' },
      { status: 'gone', reason: 'UNKNOWN_DEVICE' },
      { status: 'rejected', reason: 'WRONG_KIND', fault: 'server' },
      { status: 'gone', reason: 'UNKNOWN_DEVICE' },
      { status: 'rejected', reason: 'PAYLOAD_TOO_LARGE', fault: 'server' },
      { status: 'sent' },
    ]);
    expect(body.delete_device_ids).toEqual([unknown, 999_999]);
    expect(body).toMatchObject({ android_successfully_sent_count: 1, apple_successfully_sent_count: 1 });
  });

  it("treats another realm's device and a device with a dead token as unknown", async () => {
    const { server, database } = relay;
    const realm = await database.write(({ db }) =>
      db
        .insertInto('realms')
        .values({ uuid: randomUUID(), server_id: server?.serverId ?? '', created_at: 0 })
        .returning('id')
        .executeTakeFirstOrThrow(),
    );
    const foreign = await relay.addFcm('fcm-foreign', { realm: realm.id });
    const dead = await relay.addFcm('fcm-dead');
    await database.write(({ db }) =>
      db.updateTable('relay_devices').set({ expired_at: 1 }).where('id', '=', dead).execute(),
    );
    const { body } = await relay.notify([fcmRequest(foreign), fcmRequest(dead), fcmRequest(999_999)]);
    expect(body.results).toEqual(Array(3).fill({ status: 'gone', reason: 'UNKNOWN_DEVICE' }));
    expect(await relay.arrived('fcm-foreign')).toEqual([]);
    expect(await relay.arrived('fcm-dead')).toEqual([]);
    expect((await relay.device(foreign)).expired_at).toBeNull();
  });

  it('is refused for a wrong key, a malformed body, or an unknown realm, checked in that order', async () => {
    const wrongKey = `Basic ${Buffer.from('9aa61d0b-8ce5-488d-8e9e-fedc346e6836:x').toString('base64')}`;
    const elsewhere = { realm_uuid: '00000000-0000-4000-8000-000000000000' };
    const malformed = { push_requests: [{ device_id: 'x' }] };
    const answers = [
      await relay.notify([], { authorization: wrongKey, body: { ...malformed, ...elsewhere } }),
      await relay.notify([], { body: { ...malformed, ...elsewhere } }),
      await relay.notify([], { body: elsewhere }),
    ];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [401, 'UNAUTHORIZED'],
      [400, 'BAD_REQUEST'],
      [403, 'MISSING_REMOTE_REALM'],
    ]);
    expect(answers[1]?.body.msg).toBe('Invalid push_requests.0.device_id: must be an integer');
  });

  it('is refused for the realm of another server', async () => {
    const realm = 'e502dde1-74fc-44b3-9e3a-114c41ed3ea4';
    await addServer(relay.database, { name: 'another', realmUuids: [realm] }, Date.now());
    const { status, body } = await relay.notify([], { body: { realm_uuid: realm } });
    expect([status, body.code]).toEqual([403, 'REMOTE_REALM_SERVER_MISMATCH_ERROR']);
  });

  it('keeps tokens and ciphertext out of the log', async () => {
    const id = await relay.addFcm('fcm-secret-token');
    await relay.faults([
      { vendor: 'fcm', token: 'fcm-secret-token', status: 400, message: 'no', field: 'message.data' },
    ]);
    const { body } = await relay.notify([fcmRequest(id)]);
    expect(body.results).toEqual([{ status: 'rejected', reason: 'INVALID_ARGUMENT', fault: 'relay' }]);
    expect(relay.log.text()).toContain('INVALID_ARGUMENT');
    expect(relay.log.text()).not.toContain('fcm-secret-token');
    expect(relay.log.text()).not.toContain(encryptedData.slice(0, 40));
  });
});
