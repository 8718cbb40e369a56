import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addServer } from '#relay/servers/manage-servers.js';
import { removeServer } from '#relay/servers/remove-server.js';
import { eachBackend } from '../../../support/test-databases.js';
import {
  apnsToken,
  type DeliveriesUnderTest,
  realmUuid,
  startDeliveriesUnderTest,
} from '../deliveries/deliveries-under-test.js';
import { removal } from '../servers/removal.js';

// Checks the section "Unsealed tokens" in docs/protocol.md with requests from a stock server without encryption.
const otherRealm = 'e502dde1-74fc-44b3-9e3a-114c41ed3ea4';
const user = '0f3d6c8e-7b1a-4c55-9d2e-6a1b2c3d4e5f';
const bundleId = 'org.example.App';

eachBackend((backend) => {
  let relay: DeliveriesUnderTest;
  let otherAuthorization: string;
  let used = 0;
  beforeAll(async () => {
    const environment = { RELAY_PLAINTEXT_DEVICES: 'on' };
    relay = await startDeliveriesUnderTest({ databaseUrl: await backend.freshUrl(), environment });
    const other = await addServer(relay.database, { name: 'other', realmUuids: [otherRealm] }, Date.now());
    otherAuthorization = `Basic ${Buffer.from(`${other.serverId}:${other.serverKey.reveal()}`).toString('base64')}`;
  });
  afterAll(() => relay?.close());
  beforeEach(async () => {
    await relay.database.write(({ db }) => db.deleteFrom('relay_devices').execute());
    used += 1;
  });

  async function post(path: string, fields: object, authorization = relay.authorization) {
    const isJson = path === 'notify' || path === 'test_notification';
    const { statusCode: status, body } = await relay.app.inject({
      method: 'POST',
      url: `/api/v1/remotes/push/${path}`,
      headers: {
        authorization,
        'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded',
      },
      payload: isJson
        ? JSON.stringify(fields)
        : new URLSearchParams(fields as Record<string, string>).toString(),
    });
    return { status, body: JSON.parse(body) };
  }

  const android = (more: object = {}) => ({
    user_uuid: user,
    user_id: '10',
    realm_uuid: realmUuid,
    token: `fcm ${used}`,
    token_kind: '2',
    ...more,
  });
  const apple = (more: object = {}) =>
    android({ token: apnsToken(used).toUpperCase(), token_kind: '1', ios_app_id: bundleId, ...more });
  const notification = (more: object = {}) => ({
    user_uuid: user,
    user_id: 10,
    realm_uuid: realmUuid,
    gcm_payload: { event: 'message', zulip_message_id: 5, content: 'hé', truncated: true, from: 'reserved' },
    gcm_options: { priority: 'high' },
    apns_payload: { alert: { title: 'A', body: 'hé' }, badge: 3, custom: { zulip: { message_ids: [5] } } },
    android_devices: [`fcm ${used}`],
    apple_devices: [apnsToken(used)],
    ...more,
  });
  const success = { status: 200, body: { result: 'success', msg: '' } };
  const mayPush = { can_push: true, expected_end_timestamp: null };

  describe('a server that does not encrypt', () => {
    it('registers phones, which get its notifications unchanged', async () => {
      expect(await post('register', android())).toEqual(success);
      expect(await post('register', apple())).toEqual(success);
      expect(await post('register', apple())).toEqual(success);
      const { status, body } = await post('notify', notification());
      expect([status, body]).toEqual([
        200,
        {
          result: 'success',
          msg: '',
          total_android_devices: 1,
          total_apple_devices: 1,
          deleted_devices: { android_devices: [], apple_devices: [] },
          realm: mayPush,
        },
      ]);
      const [atGoogle] = await relay.arrived(`fcm ${used}`);
      expect(atGoogle?.body).toMatchObject({
        message: {
          token: `fcm ${used}`,
          data: { event: 'message', zulip_message_id: '5', content: 'hé', truncated: 'True' },
          android: { priority: 'HIGH' },
        },
      });
      expect(JSON.stringify(atGoogle?.body)).not.toMatch(/encrypted_data|reserved/);
      const atApple = await relay.arrived(apnsToken(used));
      expect(atApple).toHaveLength(1);
      expect(atApple[0]?.headers).toMatchObject({
        'apns-topic': bundleId,
        'apns-push-type': 'alert',
        'apns-priority': '10',
      });
      expect(atApple[0]?.body).toEqual({
        aps: { alert: { title: 'A', body: 'hé' }, badge: 3 },
        zulip: { message_ids: [5] },
      });
    });

    it('gets a list of its tokens that are not stored or dead', async () => {
      await post('register', android());
      await post('register', apple());
      await relay.faults([{ vendor: 'fcm', token: `fcm ${used}`, status: 404, reason: 'UNREGISTERED' }]);
      await post('notify', notification());
      await relay.faults([]);
      const { body } = await post(
        'notify',
        notification({ apple_devices: [apnsToken(used), 'c0ffee', 'x'] }),
      );
      expect(body).toMatchObject({
        total_android_devices: 0,
        total_apple_devices: 1,
        deleted_devices: { android_devices: [`fcm ${used}`], apple_devices: ['c0ffee', 'x'] },
      });
    });

    it('reaches a phone after a vendor outage, because the relay retries', async () => {
      await post('register', apple());
      await relay.faults([{ vendor: 'apns', status: 503, reason: 'ServiceUnavailable', times: 1 }]);
      expect((await post('notify', notification())).body).toMatchObject({ total_apple_devices: 1 });
      await relay.faults([]);
      await expect
        .poll(async () => (await relay.arrived(apnsToken(used))).length, { timeout: 30_000 })
        .toBe(1);
    });

    it('removes one phone, or all phones of a user', async () => {
      await post('register', android());
      await post('register', apple());
      expect(
        await post(
          'unregister',
          apple({ token: apnsToken(used), realm_uuid: otherRealm }),
          otherAuthorization,
        ),
      ).toMatchObject({
        status: 400,
        body: { msg: 'Token does not exist' },
      });
      expect(await post('unregister', apple({ token: apnsToken(used) }))).toMatchObject(success);
      expect(await post('unregister', apple())).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
      expect(await post('unregister/all', { user_uuid: user, realm_uuid: realmUuid })).toEqual(success);
      expect(await post('unregister/all', { user_uuid: user, realm_uuid: realmUuid })).toEqual(success);
      expect((await post('notify', notification())).body).toMatchObject({
        total_android_devices: 0,
        total_apple_devices: 0,
      });
    });

    it('causes no second registration of a phone when it starts to identify users by UUID', async () => {
      const { user_uuid: _uuid, ...byId } = android();
      await post('register', byId);
      await post('register', android());
      expect((await post('notify', notification())).body.total_android_devices).toBe(1);
      const { user_uuid: _other, ...onlyId } = notification();
      expect((await post('notify', onlyId)).body.total_android_devices).toBe(0);
    });

    it('retracts notifications of read messages without waking the phone', async () => {
      await post('register', android());
      await post('register', apple());
      const zulip = { event: 'remove', zulip_message_ids: '5,6', realm_url: 'https://chat.example.org' };
      await post(
        'notify',
        notification({ gcm_payload: zulip, gcm_options: {}, apns_payload: { badge: 0, custom: { zulip } } }),
      );
      const [atGoogle] = await relay.arrived(`fcm ${used}`);
      expect(atGoogle?.body).toMatchObject({ message: { data: zulip, android: { priority: 'NORMAL' } } });
      const [atApple] = await relay.arrived(apnsToken(used));
      expect(atApple?.headers).toMatchObject({ 'apns-push-type': 'alert', 'apns-priority': '5' });
      expect(atApple?.body).toEqual({ aps: { badge: 0 }, zulip });
    });

    it('sends test notifications, but only to stored phones', async () => {
      await post('register', android());
      await post('register', apple());
      const base = { realm_id: 3, realm_name: 'Example Chat' };
      const ids = { user_uuid: user, user_id: 10, realm_uuid: realmUuid };
      const test = { ...ids, token: `fcm ${used}`, token_kind: 2, base_payload: base };
      expect(await post('test_notification', test)).toEqual(success);
      const [arrived] = await relay.arrived(`fcm ${used}`);
      const time = expect.stringMatching(/^\d{10}$/);
      expect(arrived?.body).toMatchObject({ message: { data: { event: 'test', realm_id: '3', time } } });
      expect(await post('test_notification', { ...test, token: apnsToken(used), token_kind: 1 })).toEqual(
        success,
      );
      const [atApple] = await relay.arrived(apnsToken(used));
      expect(atApple?.body).toMatchObject({
        aps: { alert: { title: 'Test notification', body: expect.stringContaining('Example Chat') } },
        zulip: { ...base, event: 'test' },
      });
      for (const token of ['other', '']) {
        expect(await post('test_notification', { ...test, token })).toMatchObject({
          status: 400,
          body: { code: 'INVALID_REMOTE_PUSH_DEVICE_TOKEN' },
        });
      }
      expect(await post('test_notification', { ...test, more: 1 })).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST', msg: expect.stringContaining('more') },
      });
    });

    it.each([
      [{ priority: 'urgent' }, "Invalid GCM option to bouncer: priority 'urgent'"],
      [{ priority: 'high', ttl: 1 }, 'Invalid GCM options to bouncer: {"ttl":1}'],
    ])('is refused the FCM options %j', async (options, msg) => {
      await post('register', android());
      expect(await post('notify', notification({ gcm_options: options }))).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST', msg },
      });
    });

    it('is refused a request with more than 1000 tokens', async () => {
      const tokens = Array.from({ length: 1001 }, () => 'x');
      expect(await post('notify', notification({ apple_devices: tokens }))).toMatchObject({
        status: 400,
        body: { msg: expect.stringContaining('1000') },
      });
    });

    it.each(['unregister', 'unregister/all', 'test_notification'])(
      'is refused %s for another server’s realm',
      async (path) => {
        await post('register', android());
        const { token_kind: kind, user_id: id, ...fields } = android({ realm_uuid: otherRealm });
        const isTest = path === 'test_notification';
        const request = isTest
          ? { ...fields, token_kind: 2, user_id: 10, base_payload: {} }
          : { ...fields, token_kind: kind, user_id: id };
        expect(await post(path, request)).toMatchObject({
          status: 403,
          body: { code: 'REMOTE_REALM_SERVER_MISMATCH_ERROR' },
        });
        expect((await post('notify', notification())).body).toMatchObject({ total_android_devices: 1 });
      },
    );

    it.each([
      ['an unknown token kind', { token_kind: '3' }, 400, 'Invalid token type'],
      ['no token', { token: '' }, 400, 'Empty or invalid length token'],
      ['a long token', { token: 'x'.repeat(4097) }, 400, 'Empty or invalid length token'],
      ['a token that is not Apple’s', { token_kind: '1', token: 'xyz' }, 400, 'Invalid APNS token'],
      ['no bundle id', { token_kind: '1', token: 'c0ffee' }, 400, 'Missing ios_app_id'],
      [
        'an invalid bundle id',
        { token_kind: '1', token: 'c0ffee', ios_app_id: 'a b' },
        400,
        'Invalid ios_app_id',
      ],
      ['no user', { user_uuid: undefined, user_id: undefined }, 400, 'Missing user_id or user_uuid'],
      ['no realm', { realm_uuid: undefined }, 400, 'Missing realm_uuid: update the server.'],
      ['another server’s realm', { realm_uuid: otherRealm }, 403, 'Your organization is registered'],
      ['an unknown realm', { realm_uuid: user }, 403, 'Organization not registered'],
    ])('is refused a registration with %s', async (_case, changes, status, message) => {
      const fields = Object.entries(android(changes)).filter(([, value]) => value !== undefined);
      const answer = await post('register', Object.fromEntries(fields));
      expect(answer).toMatchObject({ status, body: { msg: expect.stringContaining(message) } });
      expect(await relay.database.db.selectFrom('relay_devices').select('id').execute()).toEqual([]);
    });

    it('is refused a notification for another server’s realm, or without a user', async () => {
      expect(await post('notify', notification({ realm_uuid: otherRealm }))).toMatchObject({ status: 403 });
      expect(await post('notify', notification({ user_uuid: null, user_id: null }))).toMatchObject({
        status: 400,
        body: { msg: 'Missing user_id or user_uuid' },
      });
      expect((await post('notify', notification({ realm_uuid: user }))).body.realm).toBeNull();
    });
  });

  it('a plaintext token is encrypted at rest, and deleted with its server', async () => {
    await post('register', android({ realm_uuid: otherRealm }), otherAuthorization);
    const rows = await relay.database.db.selectFrom('relay_devices').selectAll().execute();
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(`fcm ${used}`);
    const [serverId = ''] = Buffer.from(otherAuthorization.slice(6), 'base64').toString().split(':');
    expect(await removeServer(relay.database, removal(serverId, Date.now()))).toBe(1);
    expect(await relay.database.db.selectFrom('relay_devices').select('id').execute()).toEqual([]);
  });

  it('the relay logs a warning at startup', () => {
    expect(relay.log.text()).toContain('RELAY_PLAINTEXT_DEVICES is on');
  });
});
