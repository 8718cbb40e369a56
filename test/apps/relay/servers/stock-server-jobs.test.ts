import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { maximumRealmsPerServer } from '#relay/servers/stock/claim-realms.js';
import { eachBackend } from '../../../support/test-databases.js';
import { otherRealmUuid, type RelayUnderTest, realmUuid, startRelayUnderTest } from '../relay-under-test.js';

// Checks the sections "remotes/server/analytics" and "Unsealed tokens" in docs/protocol.md.

const newRealm = '0f3d6c8e-7b1a-4c55-9d2e-6a1b2c3d4e5f';
const mayPush = { can_push: true, expected_end_timestamp: null };

/** Returns a realm as a stock server reports it, with fields from a later version. */
function reported(uuid: string): object {
  return {
    id: 1,
    host: 'chat.example.com',
    url: 'https://chat.example.com',
    name: '',
    org_type: 0,
    date_created: 1773200000.5,
    deactivated: false,
    is_system_bot_realm: false,
    authentication_methods: { Email: true },
    uuid,
    uuid_owner_secret: 'zuliprealm_a',
    is_demo_organization: false,
  };
}

const counts = {
  realm_counts: JSON.stringify([{ property: 'a', realm: 1, id: 7, end_time: 1.5, subgroup: null, value: 3 }]),
  installation_counts: '[]',
  realmauditlog_rows: 'null',
  version: '"12.0"',
  api_feature_level: '498',
};

eachBackend((backend) => {
  let relay: RelayUnderTest;
  beforeAll(async () => {
    relay = await startRelayUnderTest(await backend.freshUrl());
  });
  afterAll(() => relay.close());

  async function ask(
    method: 'GET' | 'POST',
    path: string,
    form: object = {},
    authorization = relay.authorization,
  ) {
    const answer = await relay.app.inject({
      method,
      url: `/api/v1/remotes/${path}`,
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
      ...(method === 'POST' && { payload: new URLSearchParams(form as Record<string, string>).toString() }),
    });
    return { status: answer.statusCode, body: answer.json() };
  }
  const report = (uuids: string[], authorization?: string) =>
    ask(
      'POST',
      'server/analytics',
      { ...counts, realms: JSON.stringify(uuids.map(reported)) },
      authorization,
    );

  describe('the hourly job of a stock server', () => {
    it('gets zero as the last ids before its first report, and then sends all counts', async () => {
      expect(await ask('GET', 'server/analytics/status')).toEqual({
        status: 200,
        body: {
          result: 'success',
          msg: '',
          last_realm_count_id: 0,
          last_installation_count_id: 0,
          last_realmauditlog_id: 0,
        },
      });
      const { status, body } = await report([realmUuid]);
      expect([status, body]).toEqual([200, { result: 'success', msg: '', realms: { [realmUuid]: mayPush } }]);
    });

    it('gets the last ids that this server reported, to send each count once', async () => {
      const rows = (...ids: unknown[]) => JSON.stringify(ids.map((id) => ({ property: 'a', id })));
      const form = {
        realm_counts: rows(8, 9),
        installation_counts: rows(5, 'x', null),
        version: '"12.0"',
        realmauditlog_rows: rows(2 ** 40),
        realms: JSON.stringify([reported(realmUuid)]),
      };
      const ids = {
        last_realm_count_id: 9,
        last_installation_count_id: 5,
        last_realmauditlog_id: 2 ** 40,
      };
      expect((await ask('POST', 'server/analytics', form)).status).toBe(200);
      expect((await ask('GET', 'server/analytics/status')).body).toMatchObject(ids);
      const refused = { ...form, realm_counts: rows(20), realms: JSON.stringify([reported(otherRealmUuid)]) };
      expect((await ask('POST', 'server/analytics', refused)).status).toBe(400);
      const none = { ...form, realm_counts: rows(1), installation_counts: '[]', realmauditlog_rows: 'null' };
      expect((await ask('POST', 'server/analytics', none)).status).toBe(200);
      expect((await ask('GET', 'server/analytics/status')).body).toMatchObject(ids);
      const other = await ask('GET', 'server/analytics/status', {}, relay.otherAuthorization);
      expect(other.body).toMatchObject({ last_realm_count_id: 0, last_realmauditlog_id: 0 });
    });

    it('can send three full lists, percent-encoded, up to 16 MiB', async () => {
      const row = { property: 'x'.repeat(260), id: 1 };
      const full = JSON.stringify(Array.from({ length: 10_000 }, () => row));
      const form = { ...counts, realm_counts: full, installation_counts: full, realmauditlog_rows: full };
      expect(new URLSearchParams(form).toString().length).toBeGreaterThan(9_000_000);
      expect((await ask('POST', 'server/analytics', form)).status).toBe(200);
      const larger = { ...form, version: 'x'.repeat(8 * 1024 * 1024) };
      expect(await ask('POST', 'server/analytics', larger)).toMatchObject({
        status: 413,
        body: { code: 'PAYLOAD_TOO_LARGE' },
      });
    });

    it('registers a new realm, in which phones can then register', async () => {
      for (let time = 0; time < 2; time += 1) {
        const { body } = await report([realmUuid, newRealm.toUpperCase()]);
        expect(body.realms).toEqual({ [realmUuid]: mayPush, [newRealm]: mayPush });
      }
      const { body } = await relay.register({
        realm_uuid: newRealm,
        token_id: 'AAAAAAAAAAE=',
        bouncer_public_key: 'x',
        encrypted_push_registration: 'x',
      });
      expect(body.code).toBe('INVALID_BOUNCER_PUBLIC_KEY');
    });

    it('is refused for a realm of another server, and stores no other realm', async () => {
      const before = await relay.rows();
      const { status, body } = await report(['1f3d6c8e-7b1a-4c55-9d2e-6a1b2c3d4e5f', otherRealmUuid]);
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'Duplicate registration detected.']);
      expect(await relay.rows()).toEqual(before);
    });

    it('is refused for more than the maximum number of realms per server', async () => {
      const many = Array.from(
        { length: maximumRealmsPerServer },
        (_, index) => `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`,
      );
      const before = await relay.rows();
      const { status, body } = await report(many);
      expect([status, body.msg]).toEqual([400, 'A server may have at most 1000 organizations here.']);
      expect(await relay.rows()).toEqual(before);
      const { status: tooMany } = await report([...many, newRealm]);
      expect(tooMany).toBe(400);
    });

    it('claims a realm for only one of two servers that report it concurrently', async () => {
      const contested = '2f3d6c8e-7b1a-4c55-9d2e-6a1b2c3d4e5f';
      const answers = await Promise.all([report([contested]), report([contested], relay.otherAuthorization)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    });

    it.each([
      ['invalid JSON', { realm_counts: '[' }],
      ['realms without a UUID', { realms: '[{"id":1}]' }],
      ['no counts', { realm_counts: undefined }],
    ])('is refused with %s', async (_case, changes) => {
      const form = Object.entries({ ...counts, ...changes }).filter(([, value]) => value !== undefined);
      expect((await ask('POST', 'server/analytics', Object.fromEntries(form))).status).toBe(400);
    });

    it('is refused without a valid key', async () => {
      expect((await ask('GET', 'server/analytics/status', {}, 'Basic YTpi')).status).toBe(401);
      expect((await report([realmUuid], 'Basic YTpi')).status).toBe(401);
    });
  });

  it('workers that clean up unsealed tokens get the responses of a stock relay', async () => {
    const fields = { user_uuid: newRealm, realm_uuid: realmUuid };
    expect(await ask('POST', 'push/unregister/all', fields)).toEqual({
      status: 200,
      body: { result: 'success', msg: '' },
    });
    const token = { ...fields, token: 'c0ffee', token_kind: '1' };
    expect(await ask('POST', 'push/unregister', token)).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST', msg: 'Token does not exist' },
    });
    expect(await ask('POST', 'push/register', token)).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST', msg: expect.stringContaining('sealed') },
    });
    expect(await relay.devices()).toEqual([]);
  });

  it('a test notification to an unsealed token is refused with the code of a stock relay', async () => {
    const { statusCode, body } = await relay.app.inject({
      method: 'POST',
      url: '/api/v1/remotes/push/test_notification',
      headers: { authorization: relay.authorization, 'content-type': 'application/json' },
      payload: JSON.stringify({
        realm_uuid: realmUuid,
        user_uuid: newRealm,
        user_id: 10,
        token: 'c0ffee',
        token_kind: 1,
        base_payload: { server: 'chat.example.com' },
      }),
    });
    expect([statusCode, JSON.parse(body)]).toEqual([
      400,
      {
        result: 'error',
        code: 'INVALID_REMOTE_PUSH_DEVICE_TOKEN',
        msg: 'Device not recognized by the push bouncer',
      },
    ]);
  });

  it('an unsealed notification gets a success response that makes the server delete its tokens', async () => {
    const { statusCode, body } = await relay.app.inject({
      method: 'POST',
      url: '/api/v1/remotes/push/notify',
      headers: { authorization: relay.authorization, 'content-type': 'application/json' },
      payload: JSON.stringify({
        user_id: 10,
        user_uuid: newRealm,
        realm_uuid: realmUuid,
        gcm_payload: { event: 'message' },
        apns_payload: { alert: 'x' },
        gcm_options: {},
        android_devices: ['one', 'two'],
        apple_devices: ['c0ffee'],
      }),
    });
    expect([statusCode, JSON.parse(body)]).toEqual([
      200,
      {
        result: 'success',
        msg: '',
        total_android_devices: 0,
        total_apple_devices: 0,
        deleted_devices: { android_devices: ['one', 'two'], apple_devices: ['c0ffee'] },
        realm: null,
      },
    ]);
  });
});
