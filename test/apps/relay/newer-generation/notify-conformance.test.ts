import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addServer } from '#relay/servers/manage-servers.js';
import { eachBackend } from '../../../support/test-databases.js';
import {
  apnsToken,
  type DeliveriesUnderTest,
  startDeliveriesUnderTest,
} from '../deliveries/deliveries-under-test.js';
import { apnsElement, connectStockServer, fcmElement, type StockServer } from './stock-server.js';

// Checks the section "remotes/push/e2ee/notify" in docs/protocol.md, sentence by sentence, with requests from newer
// servers.
const otherRealm = 'e502dde1-74fc-44b3-9e3a-114c41ed3ea4';
const bundleId = 'org.example.App';

eachBackend((backend) => {
  let relay: DeliveriesUnderTest;
  let server: StockServer;
  let used = 0;
  beforeAll(async () => {
    relay = await startDeliveriesUnderTest({ databaseUrl: await backend.freshUrl() });
    await addServer(relay.database, { name: 'other', realmUuids: [otherRealm] }, Date.now());
    server = await connectStockServer(relay);
  });
  afterAll(() => relay.close());

  interface Phone {
    readonly token: string;
    readonly id: string;
  }

  /** Registers a phone over HTTP. */
  async function phone(kind: 'fcm' | 'apns'): Promise<Phone> {
    used += 1;
    const token = kind === 'fcm' ? `fcm token ${used}` : apnsToken(0xabc0 + used);
    const form = server.form(token, kind === 'fcm' ? {} : { token_kind: kind, ios_app_id: bundleId });
    expect((await server.register(form)).status).toBe(200);
    return { token, id: form.token_id ?? '' };
  }

  describe('notifying in the newer generation over HTTP', () => {
    it('returns the four fields of stock relays with their types, and the results', async () => {
      const { body } = await server.notify([fcmElement((await phone('fcm')).id)]);
      expect(Object.keys(body).sort()).toEqual([
        ...['android_successfully_sent_count', 'apple_successfully_sent_count', 'delete_token_ids'],
        ...['msg', 'realm_push_status', 'result', 'results'],
      ]);
      expect(body).toMatchObject({
        android_successfully_sent_count: 1,
        apple_successfully_sent_count: 0,
        delete_token_ids: [],
        realm_push_status: { can_push: true, expected_end_timestamp: null },
      });
    });

    it('returns the lists of both generations for a request without elements', async () => {
      const { status, body } = await server.notify([]);
      expect(status).toBe(200);
      expect(body).toMatchObject({ delete_token_ids: [], delete_device_ids: [], results: [] });
    });

    it('refuses in the documented order: authorization, the body, the realm, the token ids', async () => {
      const type = { 'content-type': 'application/json' };
      const bad = fcmElement('@abcdefg');
      const unknown = '00000000-0000-4000-8000-000000000000';
      const wrong = { ...bad, fcm_priority: 'urgent' };
      expect(await server.notify([wrong], unknown, type)).toMatchObject({
        status: 401,
        body: { code: 'UNAUTHORIZED' },
      });
      expect(await server.notify([wrong], unknown)).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST', msg: expect.stringContaining('push_requests.0.fcm_priority') },
      });
      expect(await server.notify([bad], unknown)).toMatchObject({
        status: 403,
        body: { code: 'MISSING_REMOTE_REALM', msg: 'Organization not registered' },
      });
      expect(await server.notify([bad], otherRealm)).toMatchObject({
        status: 403,
        body: { code: 'REMOTE_REALM_SERVER_MISMATCH_ERROR' },
      });
      expect(await server.notify([bad])).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST', msg: '`token_id` is not Base64 encoded' },
      });
    });

    it('delivers nothing if one token id in the request is not base64', async () => {
      const good = await phone('fcm');
      expect((await server.notify([fcmElement(good.id), fcmElement('abc')])).status).toBe(400);
      expect(await relay.arrived(good.token)).toEqual([]);
    });

    it('delivers each notification of a request for both vendors exactly once', async () => {
      const phones = [await phone('apns'), await phone('fcm'), await phone('apns'), await phone('fcm')];
      const elements = phones.map(({ id }, index) => (index % 2 ? fcmElement(id) : apnsElement(id)));
      const { body } = await server.notify(elements);
      expect(body).toMatchObject({
        android_successfully_sent_count: 2,
        apple_successfully_sent_count: 2,
        delete_token_ids: [],
      });
      for (const { token } of phones) expect(await relay.arrived(token)).toHaveLength(1);
    });

    it('lists every unknown, dead and non-canonical id once, in the order and spelling of the request', async () => {
      const [live, dead] = [await phone('fcm'), await phone('apns')];
      await relay.faults([{ vendor: 'apns', token: dead.token, status: 410, timestamp: Date.now() + 1000 }]);
      const unlike = live.id.replace(/.=$/, (end) => `${nextCharacter(end.charAt(0))}=`);
      const ids = ['AAAAAAAAAAE=', unlike, '', 'AA==', 'AAAAAAAAAAAAAAAAAAAAAA=='];
      const elements = [...ids, ...ids].map((id) => fcmElement(id));
      const { body } = await server.notify([apnsElement(dead.id), ...elements, fcmElement(live.id)]);
      await relay.faults([]);
      expect(body.delete_token_ids).toEqual([dead.id, ...ids]);
      expect(body.android_successfully_sent_count).toBe(1);
      // The list is still complete if the token is already known to be dead and another element fails for a different
      // reason.
      const again = await server.notify([fcmElement(dead.id), apnsElement(dead.id)]);
      expect(again.body.delete_token_ids).toEqual([dead.id]);
    });

    it('lists a dead token even if the request also has an element of the wrong vendor for it', async () => {
      const dead = await phone('fcm');
      await relay.faults([{ vendor: 'fcm', token: dead.token, status: 404, reason: 'UNREGISTERED' }]);
      const { body } = await server.notify([apnsElement(dead.id), fcmElement(dead.id)]);
      await relay.faults([]);
      expect(body.delete_token_ids).toEqual([dead.id]);
    });

    it('rejects elements of the wrong vendor, and delivers the others', async () => {
      const [google, apple] = [await phone('fcm'), await phone('apns')];
      const elements = [apnsElement(google.id), fcmElement(apple.id), fcmElement(google.id)];
      const { status, body } = await server.notify(elements);
      expect([status, body.delete_token_ids, body.apple_successfully_sent_count]).toEqual([200, [], 0]);
      const wrong = { status: 'rejected', reason: 'WRONG_KIND', fault: 'server' };
      expect(body.results).toEqual([wrong, wrong, { status: 'sent' }]);
      expect(await relay.arrived(google.token)).toHaveLength(1);
      expect(await relay.arrived(apple.token)).toEqual([]);
    });

    it.each([10, 5, 1])('forwards APNs headers with priority %i unchanged', async (apns_priority) => {
      for (const apns_push_type of ['alert', 'background']) {
        const { token, id } = await phone('apns');
        const aps = { 'mutable-content': 1 };
        const { body } = await server.notify([
          apnsElement(id, { http_headers: { apns_priority, apns_push_type } }, aps),
        ]);
        const [delivery] = await relay.arrived(token);
        // Apple and its stand-in refuse a background push with priority 10.
        if (apns_push_type === 'background' && apns_priority === 10) {
          expect(body.results).toMatchObject([{ status: 'rejected', reason: 'BadPriority' }]);
          continue;
        }
        expect(delivery?.headers).toMatchObject({
          'apns-priority': String(apns_priority),
          'apns-push-type': apns_push_type,
          'apns-topic': bundleId,
        });
        expect(delivery?.body.aps).toEqual(aps);
      }
    });

    it.each([
      '{"a":{"b":[{"c":[null,true,false,-0.5,1e3,"\\u0000\\ud83d\\ude00\\"\\\\"]}]}}',
      '{"badge":9223372036854775807,"n":[-9223372036854775808,12345678901234567890]}',
      '{"__proto__":{"x":1},"constructor":"y","alert":{"title":"Ünïcödé ☕ 𝒳","body":"\\ud800"}}',
      '{"alert":"","sound":{"critical":1,"name":"x","volume":0.25},"thread-id":"","2":1,"1":2}',
      '{}',
    ])('forwards the aps %s unchanged', async (aps) => {
      const { token, id } = await phone('apns');
      const element = JSON.stringify(apnsElement(id)).replace(/"aps":.*$/, `"aps":${aps}}}`);
      const { body } = await server.notify(`[${element}]`);
      expect(body.results).toEqual([{ status: 'sent' }]);
      const [delivery] = await relay.arrived(token);
      expect(delivery?.body.aps).toEqual(JSON.parse(aps));
      for (const long of aps.match(/\d{17,}/g) ?? []) expect(delivery?.text).toContain(long);
    });

    it.each(['high', 'normal'])('sends string values to FCM with priority %s', async (fcm_priority) => {
      const { token, id } = await phone('fcm');
      const payload = { push_key_id: 4_294_967_295, encrypted_data: 'AAAA', unknown: 1 };
      await server.notify([fcmElement(id, { fcm_priority, payload, unknown: {} })]);
      const [delivery] = await relay.arrived(token);
      expect(delivery?.body.message).toMatchObject({
        token,
        data: { push_key_id: '4294967295', encrypted_data: 'AAAA' },
        android: { priority: fcm_priority.toUpperCase() },
      });
      expect(delivery?.body.message).not.toHaveProperty('notification');
    });

    it.each([
      ['fcm_priority', { fcm_priority: 'HIGH' }],
      ['payload.push_key_id', { payload: { encrypted_data: 'AAAA' } }],
      ['payload.encrypted_data', { payload: { push_key_id: 1, encrypted_data: 'A' } }],
      ['token_id', { token_id: 7 }],
      ['http_headers.apns_priority', { http_headers: { apns_priority: 7, apns_push_type: 'alert' } }],
      ['http_headers.apns_push_type', { http_headers: { apns_priority: 5, apns_push_type: 'voip' } }],
    ])('refuses an element with an invalid %s', async (field, changes) => {
      const { status, body } = await server.notify([fcmElement('AAAAAAAAAAE=', changes)]);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(body.msg).toContain(`push_requests.0.${field}`);
    });
  });
});

/**
 * Returns the next character in the base64 alphabet. As the last character of a string, it changes only unused bits.
 */
function nextCharacter(character: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  return alphabet.charAt(alphabet.indexOf(character) + 1);
}
