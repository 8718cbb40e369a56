import { decodeBase64, encodeBase64, parseNotification } from '@waxwing/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { userId as user } from '../../../support/ids.js';
import {
  keyGroup,
  keyOf,
  PushServer,
  pushSodium,
  tokenGroup,
  tokenIdOf,
} from '../../../support/push-server.js';
import { eachBackend } from '../../../support/test-databases.js';
import type { Delivery } from '../../../support/token-relay.js';

const [ada, bob] = [user(7), user(8)];

/** Decrypts `nonce ‖ box` with a key. */
function open(encryptedData: string, keyId: number) {
  const bytes = decodeBase64(encryptedData) ?? new Uint8Array();
  const opened = pushSodium.openSecretBox(bytes.subarray(24), bytes.subarray(0, 24), keyOf(keyId));
  return { length: bytes.length, nonce: encodeBase64(bytes.subarray(0, 24)), opened };
}

eachBackend((backend) => {
  let server: PushServer;
  beforeEach(async () => {
    server = await PushServer.start(backend);
  });
  afterEach(() => server.close());

  const sent = () =>
    server.relay.stand.requests
      .filter(({ path }) => path.endsWith('/notify'))
      .map(({ body }) => (JSON.parse(body) as { push_requests: object[] }).push_requests);

  describe('a notification', () => {
    it('is a secret box with a random nonce for each device, in the vendor’s format', async () => {
      await server.activeDevice(ada, 'fcm token', 11);
      const apns = await server.createDevice(ada);
      await server.register(ada, apns, { ...keyGroup(12), ...tokenGroup('apns token', 'apns') });
      await server.settle();
      await server.notify(ada, { type: 'test', time: 5 });
      await server.notify(ada, { type: 'remove', messageIds: [2, 1] });
      const data = { encrypted_data: expect.any(String) };
      const mutable = { 'mutable-content': 1 };
      expect(sent()).toEqual([
        // One device per request until the server knows that the relay accepts several.
        [{ token_id: tokenIdOf('fcm token'), fcm_priority: 'high', payload: { push_key_id: 11, ...data } }],
        [
          {
            token_id: tokenIdOf('apns token'),
            http_headers: { apns_priority: 10, apns_push_type: 'alert' },
            payload: {
              push_key_id: 12,
              ...data,
              aps: { ...mutable, alert: { title: 'New notification' }, sound: 'default' },
            },
          },
        ],
        [
          { token_id: tokenIdOf('fcm token'), fcm_priority: 'normal', payload: { push_key_id: 11, ...data } },
          {
            token_id: tokenIdOf('apns token'),
            http_headers: { apns_priority: 5, apns_push_type: 'background' },
            payload: { push_key_id: 12, ...data, aps: { 'content-available': 1, ...mutable } },
          },
        ],
      ]);
      const opened = server.relay.deliveries.map((each: Delivery) =>
        open(each.encryptedData, each.keyId ?? 0),
      );
      expect(new Set(opened.map(({ nonce }) => nonce)).size).toBe(4);
      // Padded to 512 bytes, plus a 24-byte nonce and a 16-byte authenticator.
      expect(opened.map(({ length }) => length)).toEqual([552, 552, 552, 552]);
      const whose = { realm_url: 'https://chat.example.com', realm_name: 'Example', user_id: ada };
      const [test, , remove] = opened.map((each) => parseNotification(each.opened ?? new Uint8Array()));
      expect(test).toEqual({ type: 'test', time: 5, ...whose });
      expect(remove).toEqual({ type: 'remove', message_ids: [1, 2], ...whose });
      expect(open(server.relay.deliveries[0]?.encryptedData ?? '', 12).opened).toBeUndefined();
    });

    it('reaches each of a user’s devices once, in both generations', async () => {
      await server.activeAccount(ada, '5');
      await server.activeDevice(ada, 'token');
      await server.activeDevice(bob, 'token');
      expect(
        await server.push.send({
          userId: ada,
          content: { type: 'test', time: 1 },
          giveUpAt: server.now + 1000,
        }),
      ).toEqual({
        kind: 'devices',
        devices: 2,
      });
      await server.settle();
      expect(sent()).toHaveLength(2);
      await server.notify(ada);
      expect(sent()).toHaveLength(3);
      expect(server.relay.deliveries.slice(0, 2)).toMatchObject([
        { deviceId: 1 },
        { tokenId: tokenIdOf('token') },
      ]);
    });

    it('uses the newest key, and the previous token until the relay confirms the new token', async () => {
      const id = await server.activeDevice(ada, 'former');
      server.relay.isDown = true;
      await server.register(ada, id, { ...keyGroup(2), ...tokenGroup('new') });
      await server.settle();
      server.relay.isDown = false;
      await server.notify(ada);
      await server.pass(1000);
      await server.notify(ada);
      expect(server.relay.deliveries.map(({ tokenId, keyId }) => [tokenId, keyId])).toEqual([
        [tokenIdOf('former'), 2],
        [tokenIdOf('new'), 2],
      ]);
    });

    it('does not reach a device whose registration is pending, and reports the device as pending', async () => {
      const id = await server.createDevice(ada);
      server.relay.isDown = true;
      await server.register(ada, id, { ...keyGroup(1), ...tokenGroup('token') });
      const content = { type: 'test', time: 1 } as const;
      const reach = await server.push.send({ userId: ada, content, giveUpAt: server.now + 1000 });
      expect(reach).toEqual({ kind: 'no-device', pending: 1 });
    });
  });

  describe('tokens that the relay no longer knows', () => {
    it('are cleared for the notified user only, with one event per device', async () => {
      const [dead, alive] = [await server.activeDevice(ada, 'dead'), await server.activeDevice(ada, 'alive')];
      const others = await server.activeDevice(bob, 'dead');
      server.relay.tokens.delete(tokenIdOf('dead'));
      server.events.length = 0;
      await server.notify(ada);
      expect(server.events.map(({ event, audience }) => [event, audience])).toEqual([
        [{ type: 'device', op: 'update', device_id: dead, push_token_id: null }, [ada]],
      ]);
      const left = await server.push.clientDevicesOf(ada);
      expect([left[dead]?.push_token_id, left[alive]?.push_token_id]).toEqual([null, tokenIdOf('alive')]);
      expect(left[dead]).toMatchObject({ push_key_id: 1 });
      expect((await server.push.clientDevicesOf(bob))[others]?.push_token_id).toBe(tokenIdOf('dead'));
      await server.notify(ada);
      expect(server.relay.deliveries.map(({ tokenId }) => tokenId)).toEqual([
        tokenIdOf('alive'),
        tokenIdOf('alive'),
      ]);
    });

    it('are ignored if they are not tokens of this server, whatever their format', async () => {
      const id = await server.activeDevice(ada, 'token');
      const unpadded = tokenIdOf('token').replace('=', '');
      server.relay.stand.next({
        status: 200,
        body: {
          result: 'success',
          msg: '',
          realm_push_status: null,
          android_successfully_sent_count: 1,
          apple_successfully_sent_count: 0,
          delete_token_ids: ['', '@', unpadded, tokenIdOf('another'), '\u0000'],
        },
      });
      await server.notify(ada);
      expect(sent()).toHaveLength(1);
      expect((await server.push.clientDevicesOf(ada))[id]?.push_token_id).toBe(tokenIdOf('token'));
      expect(await server.database.jobs.list({ state: 'dead' })).toEqual([]);
    });
  });

  describe('a test notification', () => {
    const send = (fields: Record<string, string> = {}) =>
      server.ask(ada, 'mobile_push/e2ee/test_notification', fields);
    const none = 'No active registered push device';

    it('goes to one device of either generation, or to all devices', async () => {
      await server.activeAccount(ada, '5');
      const id = await server.activeDevice(ada, 'token');
      await server.activeDevice(ada, 'second');
      for (const fields of [{ device_id: String(id) }, { push_account_id: '5' }, {}]) {
        server.relay.deliveries.length = 0;
        server.now += 10_000;
        expect(await send(fields)).toEqual({});
        const named = server.relay.deliveries.map(({ deviceId, tokenId }) => deviceId ?? tokenId);
        const all = [1, tokenIdOf('token'), tokenIdOf('second')];
        expect(named).toEqual('device_id' in fields ? [all[1]] : 'push_account_id' in fields ? [1] : all);
      }
    });

    it('needs an active token, even if a newer registration has failed', async () => {
      const id = await server.createDevice(ada);
      expect(await send()).toBe(none);
      expect(await send({ device_id: String(id) })).toBe(none);
      const others = await server.activeDevice(bob, 'other');
      expect(await send({ device_id: String(others) })).toBe(none);
      await server.register(ada, id, { ...keyGroup(1), ...tokenGroup('token') });
      await server.settle();
      server.relay.refusal = 'BAD_REQUEST';
      await server.register(ada, id, tokenGroup('second'));
      await server.settle();
      expect(await send({ device_id: String(id) })).toEqual({});
      server.now += 10_000;
      server.relay.tokens.clear();
      expect(await send({ device_id: String(id) })).toBe(none);
    });

    it('is limited to one per device in ten seconds', async () => {
      const [id, other] = [await server.activeDevice(ada, 'token'), await server.activeDevice(ada, 'second')];
      expect(await send({ device_id: String(id) })).toEqual({});
      expect(await send({ device_id: String(id) })).toMatch(/test notification/);
      expect(await send({ device_id: String(other) })).toEqual({});
    });
  });
});
