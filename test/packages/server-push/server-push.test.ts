import type { DatabaseWithJobs } from '@waxwing/jobs';
import { type JsonObject, parseNotification, type RelayDeviceId } from '@waxwing/protocol';
import {
  createServerPush,
  type NotificationContent,
  readRelayLinkStatus,
  removePushDevicesOf,
  type ServerPush,
  type ServerPushTables,
  serverPushMigrations,
} from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import { Metrics } from '@waxwing/service/metrics';
import { loadWasmSodium } from '@waxwing/sodium';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  activateRegistration,
  failRegistration,
  pendingRegistrations,
} from '#server-push/push-devices/pending-registrations.js';
import { activePushDevices, dropDeadRegistration } from '#server-push/push-devices/push-device-store.js';
import { notifyUser } from '../../../docs/examples/send-notification.js';
import { acceptRegistration } from '../../support/accept-registration.js';
import { idle } from '../../support/idle.js';
import { accountIdText, relayDeviceId as relayId, userId as user } from '../../support/ids.js';
import { createMemoryLog } from '../../support/memory-log.js';
import { openSealed } from '../../support/noble-oracle.js';
import { notified, RelayStandIn, refused } from '../../support/relay-stand-in.js';
import { eachBackend, type TestBackend } from '../../support/test-databases.js';

const sodium = await loadWasmSodium();
const phone = sodium.generateKeyPair();
const pushPublicKey = Buffer.from(phone.publicKey).toString('base64');
const realm = {
  uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
  url: 'https://chat.example.com',
  name: 'Example',
};
const userId = user(7);

let now = 1_000_000;
const registration = (hash: string, tokenKind: 'fcm' | 'apns' = 'fcm') => ({
  pushAccountId: accountIdText('9223372036854775807'),
  tokenKind,
  pushPublicKey,
  bouncerPublicKey: 'a bouncer key',
  encryptedPushRegistration: `sealed ${hash}`,
  hash,
});

const open = (backend: TestBackend) =>
  backend.open<ServerPushTables>({ migrations: [serverPushMigrations], now: () => now });

eachBackend((backend) => {
  describe('the push devices of a database', () => {
    let database: DatabaseWithJobs<ServerPushTables>;
    beforeEach(async () => {
      database = await open(backend);
    });
    const accept = (hash: string, user = userId) =>
      database.write((transaction) => acceptRegistration(transaction, user, registration(hash), now));

    it('accept a registration once, and replace it if it changes', async () => {
      const first = await accept('a');
      expect(first).toMatchObject({ kind: 'accepted', key: { generation: 1 } });
      expect(await accept('a')).toEqual({ kind: 'unchanged' });
      const second = await accept('b');
      expect(second).toMatchObject({ kind: 'accepted', key: { generation: 2 } });
      expect(await accept('a', user(userId + 1))).toMatchObject({ kind: 'accepted', key: { generation: 1 } });
    });

    it('accept one of many identical concurrent registrations', async () => {
      const results = await Promise.all(Array.from({ length: 20 }, () => accept('a')));
      expect(results.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
      expect(results.filter(({ kind }) => kind === 'unchanged')).toHaveLength(19);
    });

    it('settle a registration once, and never an older registration', async () => {
      const [first, second] = [await accept('a'), await accept('b')];
      if (first.kind !== 'accepted' || second.kind !== 'accepted') throw new Error('not accepted');
      expect(await pendingRegistrations(database.db, [first.key, second.key])).toMatchObject([
        undefined,
        { pending_encrypted_registration: 'sealed b' },
      ]);
      const settle = (key: typeof first.key) =>
        database.write((transaction) => activateRegistration(transaction, key, relayId(5), now));
      const fail = (key: typeof first.key) =>
        database.write((transaction) => failRegistration(transaction, key, 'BAD_REQUEST', now));
      expect(await fail(first.key)).toBeUndefined();
      expect(await settle(first.key)).toBeUndefined();
      expect(await settle(second.key)).toMatchObject({ userId, pushAccountId: '9223372036854775807' });
      expect(await settle(second.key)).toBeUndefined();
      expect(await fail(second.key)).toBeUndefined();
    });

    it('delete a dead registration, but not a registration that has since become active', async () => {
      const first = await accept('a');
      if (first.kind !== 'accepted') throw new Error('not accepted');
      await database.write((transaction) => activateRegistration(transaction, first.key, relayId(5), now));
      const [device] = await activePushDevices(database.db, userId);
      if (device === undefined) throw new Error('not active');
      const second = await accept('b');
      if (second.kind !== 'accepted') throw new Error('not accepted');
      await database.write((transaction) => activateRegistration(transaction, second.key, relayId(5), now));
      const drop = () => database.write((transaction) => dropDeadRegistration(transaction, device));
      expect(await drop()).toBeUndefined();
      expect(await activePushDevices(database.db, userId)).toHaveLength(1);
    });

    it('are all removed together for a user', async () => {
      await accept('a');
      await accept('a', user(userId + 1));
      const context = { database, clock: () => now, publish: async () => undefined };
      await database.write((transaction) => removePushDevicesOf(context, transaction, userId));
      const left = await database.db.selectFrom('push_devices').select('user_id').execute();
      expect(left).toEqual([{ user_id: userId + 1 }]);
    });
  });

  describe('a pending notification', () => {
    let database: DatabaseWithJobs<ServerPushTables>;
    let relay: RelayStandIn;
    let push: ServerPush;
    let published: JsonObject[];
    let canPublish = true;

    beforeEach(async () => {
      database = await open(backend);
      relay = await RelayStandIn.start();
      published = [];
      push = await createServerPush({
        database,
        authenticate: async () => ({ userId, isBot: false, lockUser: async () => undefined }),
        publish: async (_transaction, events) => {
          if (!canPublish && events.length > 0) throw new Error('the database is away');
          published.push(...events.map(({ event }) => event));
        },
        relay: { kind: 'configured', url: relay.url, serverId: 'id', serverKey: new Secret('key') },
        realm,
        sodium,
        clock: () => now,
        random: () => 0,
        log: createMemoryLog().log,
        metrics: new Metrics(),
      });
      await database.jobs.start();
    });
    afterEach(async () => {
      await database.jobs.stop(0);
      await push.close();
      await relay.close();
    });

    async function activate(pushAccountId: string, relayDeviceId: RelayDeviceId, tokenKind: 'fcm' | 'apns') {
      await database.write(async (transaction) => {
        const whole = {
          ...registration(pushAccountId, tokenKind),
          pushAccountId: accountIdText(pushAccountId),
        };
        const accepted = await acceptRegistration(transaction, userId, whole, now);
        if (accepted.kind !== 'accepted') throw new Error('not accepted');
        await activateRegistration(transaction, accepted.key, relayDeviceId, now);
      });
    }

    const send = (content: NotificationContent) => push.notify([userId], { content, giveUpAt: now + 60_000 });
    const sentTo = (index: number) =>
      (
        JSON.parse(relay.requests[index]?.body ?? '') as {
          push_requests: { device_id: number; payload: { encrypted_data: string; aps?: unknown } }[];
        }
      ).push_requests;

    it('is retried while the relay is down, then goes to the devices that exist at that time', async () => {
      await activate('1', relayId(11), 'fcm');
      relay.next('cut');
      relay.otherwise(notified());
      await send({ type: 'remove', messageIds: [32, 31] });
      await idle(database.jobs);
      await activate('2', relayId(12), 'apns');
      now += 1000;
      await idle(database.jobs);
      const requests = relay.requests.slice(1).flatMap((_, index) => sentTo(index + 1));
      expect(requests.map(({ device_id: id }) => id)).toEqual([11, 12]);
      expect(requests[1]).toMatchObject({
        http_headers: { apns_priority: 5, apns_push_type: 'background' },
        payload: { aps: { 'content-available': 1, 'mutable-content': 1 } },
      });
      const sealed = Buffer.from(requests[0]?.payload.encrypted_data ?? '', 'base64');
      const opened = openSealed(sealed, phone.publicKey, phone.privateKey);
      expect(parseNotification(opened ?? new Uint8Array())).toEqual({
        type: 'remove',
        message_ids: [31, 32],
        realm_url: realm.url,
        realm_name: realm.name,
        user_id: userId,
      });
    });

    it('goes to hundreds of devices in requests within the relay’s limits', async () => {
      for (let id = 1; id <= 450; id += 1) await activate(String(id), relayId(id), 'apns');
      relay.otherwise(notified([450]));
      await send({ type: 'test', time: 1 });
      await idle(database.jobs);
      expect(relay.requests.map((_, index) => sentTo(index).length)).toEqual([1, 200, 200, 49]);
      expect(published).toEqual([
        {
          type: 'push_device',
          push_account_id: '450',
          status: 'failed',
          error_code: 'NO_ACTIVE_PUSH_DEVICE',
        },
      ]);
    });

    it('is not resent if the dead devices cannot be dropped, which the next notification drops', async () => {
      await activate('1', relayId(11), 'fcm');
      await activate('2', relayId(12), 'fcm');
      relay.otherwise(notified([12]));
      canPublish = false;
      await send({ type: 'test', time: 1 });
      await idle(database.jobs);
      now += 59_000;
      await idle(database.jobs);
      expect(relay.requests).toHaveLength(2);
      canPublish = true;
      await send({ type: 'test', time: 2 });
      await idle(database.jobs);
      expect(
        (await activePushDevices(database.db, userId)).map(({ pushAccountId }) => pushAccountId),
      ).toEqual(['1']);
    });

    it('drops only the device that the response names, even if a restored relay reused its id', async () => {
      await activate('1', relayId(11), 'fcm');
      await activate('2', relayId(12), 'fcm');
      await activate('3', relayId(11), 'apns');
      const deadAccount = 1;
      relay.otherwise(({ body }) => {
        const { push_requests: requests } = JSON.parse(body) as {
          push_requests: { device_id: number; payload: { push_account_id: number } }[];
        };
        const dead = requests.filter(({ payload }) => payload.push_account_id === deadAccount);
        return notified(dead.map(({ device_id: id }) => id));
      });
      await send({ type: 'test', time: 1 });
      await idle(database.jobs);
      expect(relay.requests.map((_, index) => sentTo(index).map(({ device_id: id }) => id))).toEqual([
        [11],
        [12, 11],
      ]);
      expect(published).toMatchObject([{ push_account_id: '1', status: 'failed' }]);
      const left = await activePushDevices(database.db, userId);
      expect(left.map(({ pushAccountId }) => pushAccountId)).toEqual(['2', '3']);
    });

    it('is not sent to a user without devices, or after it has expired', async () => {
      await send({ type: 'test', time: 1 });
      await idle(database.jobs);
      await activate('1', relayId(11), 'fcm');
      relay.otherwise({ status: 503 });
      await send({ type: 'test', time: 1 });
      await idle(database.jobs);
      now += 60_000;
      await idle(database.jobs);
      expect(relay.requests).toHaveLength(1);
    });

    it('is stored only for a user with devices, and send returns their number', async () => {
      relay.otherwise(notified());
      const whole = { userId, content: { type: 'test', time: 1 }, giveUpAt: now + 60_000 } as const;
      expect(await push.send(whole)).toEqual({ kind: 'no-device', pending: 0 });
      const pending = { ...registration('0'), pushAccountId: accountIdText(3) };
      await database.write((transaction) => acceptRegistration(transaction, userId, pending, now));
      expect(await push.send(whole)).toEqual({ kind: 'no-device', pending: 1 });
      const queued = (await database.jobs.list({})).map(({ kind }) => kind);
      expect(queued).not.toContain('notifications/deliver-notification');
      await activate('1', relayId(11), 'fcm');
      await activate('2', relayId(12), 'apns');
      const notice = { messageId: 5, senderId: user(2), senderName: 'Ada', senderPicture: '', text: 'Hello' };
      expect(await notifyUser(push, userId, notice)).toBe("On its way to 2 of the user's devices.");
      await idle(database.jobs);
      expect([...sentTo(0), ...sentTo(1)].map(({ device_id: id }) => id)).toEqual([11, 12]);
      const sealed = Buffer.from(sentTo(0)[0]?.payload.encrypted_data ?? '', 'base64');
      const opened = openSealed(sealed, phone.publicKey, phone.privateKey) ?? new Uint8Array();
      expect(parseNotification(opened)).toMatchObject({ type: 'message', message_id: 5, content: 'Hello' });
    });

    it('is kept with the reason if the relay refuses it permanently', async () => {
      await activate('1', relayId(11), 'fcm');
      relay.otherwise(refused(400, 'BAD_REQUEST', 'no such realm'));
      await send({ type: 'test', time: 1 });
      await idle(database.jobs);
      const [dead] = await database.jobs.list({ state: 'dead' });
      expect(dead).toMatchObject({ reason: 'the relay refused it: BAD_REQUEST no such realm' });
      expect((await readRelayLinkStatus(database.db)).state).toBe('working');
    });
  });
});
