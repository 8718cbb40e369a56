import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addServer } from '#relay/servers/manage-servers.js';
import { eachBackend } from '../../../support/test-databases.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  encryptedData,
  fcmRequest,
  startDeliveriesUnderTest,
  topic,
  until,
} from './deliveries-under-test.js';

// Tests the section "remotes/push/e2ee/notify" of docs/protocol.md for the newer generation.

const aps = { 'mutable-content': 1, alert: { title: 'New notification' }, sound: 'default' };

function fcm(tokenId: string, more: object = {}): object {
  return {
    token_id: tokenId,
    fcm_priority: 'high',
    payload: { push_key_id: 20, encrypted_data: encryptedData },
    ...more,
  };
}

function apns(tokenId: string, more: object = {}, sentAps: object = aps): object {
  return {
    token_id: tokenId,
    http_headers: { apns_priority: 10, apns_push_type: 'alert' },
    payload: { push_key_id: 4_294_967_295, encrypted_data: encryptedData, aps: sentAps },
    ...more,
  };
}

eachBackend((backend) => {
  let relay: DeliveriesUnderTest;
  let used = 0;
  const newToken = (kind: 'fcm' | 'apns') => {
    used += 1;
    return kind === 'fcm' ? `fcm token ${used}` : apnsToken(used);
  };
  beforeAll(async () => {
    relay = await startDeliveriesUnderTest({ databaseUrl: await backend.freshUrl() });
  });
  afterAll(() => relay.close());

  describe('a notify request of the newer generation', () => {
    it('reaches both vendors, and returns exactly the fields of stock relays and the results', async () => {
      const [google, apple] = [newToken('fcm'), newToken('apns')];
      const [one, two] = [await relay.addByToken('fcm', google), await relay.addByToken('apns', apple)];
      const { status, body } = await relay.notify([fcm(one), apns(two)]);
      expect([status, body]).toEqual([
        200,
        {
          result: 'success',
          msg: '',
          android_successfully_sent_count: 1,
          apple_successfully_sent_count: 1,
          delete_token_ids: [],
          realm_push_status: { can_push: true, expected_end_timestamp: null },
          results: [{ status: 'sent' }, { status: 'sent' }],
        },
      ]);
      const [sent] = await relay.arrived(google);
      expect(sent?.body).toMatchObject({
        message: { token: google, data: { push_key_id: '20', encrypted_data: encryptedData } },
      });
      const [alert] = await relay.arrived(apple);
      expect(alert?.body).toEqual({ aps, push_key_id: 4_294_967_295, encrypted_data: encryptedData });
      expect(alert?.headers).toMatchObject({
        'apns-topic': topic,
        'apns-priority': '10',
        'apns-push-type': 'alert',
      });
    });

    it('forwards aps and the APNs headers unchanged', async () => {
      const token = newToken('apns');
      const id = await relay.addByToken('apns', token);
      const own = {
        'mutable-content': 1,
        alert: { title: 'Naïve ☕', 'loc-args': ['1'] },
        badge: 3,
        'thread-id': 'ü',
      };
      const headers = { http_headers: { apns_priority: 1, apns_push_type: 'background' } };
      const { body } = await relay.notify([apns(id, headers, own)]);
      expect(body.results).toEqual([{ status: 'sent' }]);
      const [alert] = await relay.arrived(token);
      expect(alert?.body.aps).toEqual(own);
      expect(alert?.headers).toMatchObject({ 'apns-priority': '1', 'apns-push-type': 'background' });
    });

    it('delivers once to each of two devices per vendor', async () => {
      const tokens = [newToken('fcm'), newToken('fcm'), newToken('apns'), newToken('apns')];
      const [a = '', b = ''] = [
        await relay.addByToken('fcm', tokens[0] ?? ''),
        await relay.addByToken('fcm', tokens[1] ?? ''),
      ];
      const [c = '', d = ''] = [
        await relay.addByToken('apns', tokens[2] ?? ''),
        await relay.addByToken('apns', tokens[3] ?? ''),
      ];
      const { body } = await relay.notify([fcm(a), fcm(b), apns(c), apns(d)]);
      expect([body.android_successfully_sent_count, body.apple_successfully_sent_count]).toEqual([2, 2]);
      for (const token of tokens) expect(await relay.arrived(token)).toHaveLength(1);
    });

    it('lists each unknown, dead and foreign token once for deletion, as the request spelled it', async () => {
      const other = await addServer(
        relay.database,
        { name: 'other', realmUuids: ['e502dde1-74fc-44b3-9e3a-114c41ed3ea4'] },
        Date.now(),
      );
      expect(other.serverId).toBeTruthy();
      const { id: realm } = await relay.database.db
        .selectFrom('realms')
        .select('id')
        .where('uuid', '=', 'e502dde1-74fc-44b3-9e3a-114c41ed3ea4')
        .executeTakeFirstOrThrow();
      const foreign = await relay.addByToken('fcm', newToken('fcm'), { realm });
      const dead = newToken('fcm');
      const deadId = await relay.addByToken('fcm', dead);
      await relay.database.db
        .updateTable('relay_devices')
        .set({ expired_at: 1 })
        .where('push_account_id', '=', `token:${deadId}`)
        .execute();
      const live = await relay.addByToken('fcm', newToken('fcm'));
      const unknown = ['AAAAAAAAAAE=', 'AAAAAAAAAAF=', ''];
      const ids = [foreign, deadId, ...unknown, foreign, live];
      const { body } = await relay.notify(ids.map((id) => fcm(id)));
      expect(body.delete_token_ids).toEqual([foreign, deadId, ...unknown]);
      expect(body.android_successfully_sent_count).toBe(1);
      expect(await relay.arrived(dead)).toEqual([]);
    });

    it('lists only tokens that the vendor reports as dead, not other failed tokens', async () => {
      const [dead, failed] = [newToken('fcm'), newToken('fcm')];
      const ids = [await relay.addByToken('fcm', dead), await relay.addByToken('fcm', failed)];
      await relay.faults([
        { vendor: 'fcm', token: dead, status: 404, reason: 'UNREGISTERED' },
        { vendor: 'fcm', token: failed, status: 403, reason: 'SENDER_ID_MISMATCH' },
      ]);
      const { body } = await relay.notify(ids.map((id) => fcm(id)));
      await relay.faults([]);
      expect(body.delete_token_ids).toEqual([ids[0]]);
      expect(body.android_successfully_sent_count).toBe(0);
    });

    it('is retried from the queue with its key id and aps', async () => {
      const token = newToken('apns');
      const id = await relay.addByToken('apns', token);
      await relay.faults([{ vendor: 'apns', token, status: 503, reason: 'ServiceUnavailable', times: 3 }]);
      const { body } = await relay.notify([apns(id, {}, { alert: 'ä' })]);
      await relay.faults([]);
      expect(body.results).toMatchObject([{ status: 'queued' }]);
      await until(async () => (await relay.arrived(token)).length === 1);
      const [alert] = await relay.arrived(token);
      expect(alert?.body).toEqual({
        aps: { alert: 'ä' },
        push_key_id: 4_294_967_295,
        encrypted_data: encryptedData,
      });
      const { status } = await relay.settled(body.results[0]?.notification_id);
      expect(status).toBe('sent');
      const [receipt] = await relay.receipts([body.results[0]?.notification_id]);
      expect(receipt).not.toHaveProperty('push_account_id');
    });

    it('refuses a token id that is not base64 with the error message of stock relays', async () => {
      for (const id of ['@abcdefg', 'abc', 'AAAAAAAAAAE', 'AAAA\n', '-_-_']) {
        const { status, body } = await relay.notify([fcm(id)]);
        expect([status, body.code, body.msg]).toEqual([
          400,
          'BAD_REQUEST',
          '`token_id` is not Base64 encoded',
        ]);
      }
    });

    it.each([-1, 4_294_967_296, 1.5, '7', null])('refuses the key id %o', async (push_key_id) => {
      const payload = { push_key_id, encrypted_data: encryptedData };
      const { status, body } = await relay.notify([fcm('AAAAAAAAAAE=', { payload })]);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(body.msg).toContain('push_key_id');
    });

    it('rejects a notification for the wrong vendor, but keeps its device', async () => {
      const id = await relay.addByToken('fcm', newToken('fcm'));
      const { body } = await relay.notify([apns(id)]);
      expect(body.results).toEqual([{ status: 'rejected', reason: 'WRONG_KIND', fault: 'server' }]);
      expect(body.delete_token_ids).toEqual([]);
    });
  });

  it('accepts both generations in one request, and returns a separate deletion list for each', async () => {
    const token = newToken('fcm');
    const byId = await relay.addFcm(token);
    const byToken = await relay.addByToken('fcm', token);
    const apple = await relay.addApns(newToken('apns'));
    const { body } = await relay.notify([
      fcmRequest(byId),
      fcm(byToken),
      apnsRequest(apple),
      fcmRequest(7),
      fcm('AAAAAAAAAAI='),
    ]);
    expect(body).toMatchObject({
      android_successfully_sent_count: 2,
      apple_successfully_sent_count: 1,
      delete_device_ids: [7],
      delete_token_ids: ['AAAAAAAAAAI='],
    });
    const data = (await relay.arrived(token)).map(
      ({ body: sent }) => (sent.message as { data: object }).data,
    );
    expect(data.map((each) => Object.keys(each).sort()[1]).sort()).toEqual([
      'push_account_id',
      'push_key_id',
    ]);
  });
});
