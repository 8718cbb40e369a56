import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { UserId } from '@waxwing/protocol';
import {
  createServerPush,
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
import { enqueueForwarding } from '#server-push/push-devices/enqueue-forwarding.js';
import { failRegistration } from '#server-push/push-devices/pending-registrations.js';
import { acceptRegistration } from '../../support/accept-registration.js';
import { idle } from '../../support/idle.js';
import { accountIdText, relayDeviceId, userId as user } from '../../support/ids.js';
import { createMemoryLog } from '../../support/memory-log.js';
import { notified, RelayStandIn, refused, registered } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';

const sodium = await loadWasmSodium();
const pushPublicKey = Buffer.from(sodium.generateKeyPair().publicKey).toString('base64');
const realm = {
  uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
  url: 'https://chat.example.com',
  name: 'Example',
};
const removePath = '/api/v1/remotes/push/e2ee/remove';
const dayMilliseconds = 86_400_000;
const [ada, bob] = [user(7), user(8)];

eachBackend((backend) => {
  describe('devices that a server removes from its relay', () => {
    let now: number;
    let database: DatabaseWithJobs<ServerPushTables>;
    let relay: RelayStandIn;
    let push: ServerPush;
    let metrics: Metrics;
    let log: ReturnType<typeof createMemoryLog>;

    beforeEach(async () => {
      now = 1_773_000_000_000;
      database = await backend.open<ServerPushTables>({ migrations: [serverPushMigrations], now: () => now });
      relay = await RelayStandIn.start();
      metrics = new Metrics();
      log = createMemoryLog();
      push = await createServerPush({
        database,
        authenticate: async () => ({ userId: ada, isBot: false, lockUser: async () => undefined }),
        publish: async () => undefined,
        relay: { kind: 'configured', url: relay.url, serverId: 'id', serverKey: new Secret('key') },
        realm,
        sodium,
        clock: () => now,
        random: () => 0,
        log: log.log,
        metrics,
      });
      await database.jobs.start();
    });
    afterEach(async () => {
      await database.jobs.stop(0);
      await push.close();
      await relay.close();
    });

    const accept = (userId: UserId, pushAccountId: string, hash: string) =>
      database.write(async (transaction) => {
        const accepted = await acceptRegistration(
          transaction,
          userId,
          {
            pushAccountId: accountIdText(pushAccountId),
            tokenKind: 'fcm',
            pushPublicKey,
            hash,
            bouncerPublicKey: 'a bouncer key',
            encryptedPushRegistration: `sealed ${hash}`,
          },
          now,
        );
        if (accepted.kind !== 'accepted') throw new Error('not accepted');
        await enqueueForwarding(database, transaction, accepted, now);
        return accepted.key;
      });

    /** Registers a phone. The relay assigns this device id. */
    async function register(userId: UserId, pushAccountId: string, relayDeviceId: number, hash = 'a') {
      relay.next(registered(relayDeviceId));
      await accept(userId, pushAccountId, `${pushAccountId} ${hash}`);
      await idle(database.jobs);
    }

    const removeUser = (userId: UserId) =>
      database.write((transaction) =>
        removePushDevicesOf(
          { database, clock: () => now, publish: async () => undefined },
          transaction,
          userId,
        ),
      );

    async function pass(milliseconds: number): Promise<void> {
      now += milliseconds;
      await idle(database.jobs);
    }

    /** Returns the ids in each removal request to the relay. */
    const removals = () =>
      relay.requests
        .filter(({ path }) => path === removePath)
        .map(({ body }) => JSON.parse(new URLSearchParams(body).get('device_ids') ?? '') as number[]);

    it('include all devices of a removed user, in one request with the server’s credentials', async () => {
      await register(ada, '1', 11);
      await register(ada, '9223372036854775807', 12);
      relay.otherwise({ status: 200, body: { result: 'success', msg: '' } });
      await removeUser(ada);
      await idle(database.jobs);
      expect(removals()).toEqual([[11, 12]]);
      const { headers, body, method } = relay.requests.at(-1) ?? {};
      expect(method).toBe('POST');
      expect(headers?.authorization).toBe(`Basic ${btoa('id:key')}`);
      expect(new URLSearchParams(body).get('realm_uuid')).toBe(realm.uuid);
      expect(new URLSearchParams(body).get('push_account_ids')).toBe('[1,9223372036854775807]');
      await pass(dayMilliseconds);
      expect(removals()).toHaveLength(1);
    });

    it('are retried until the relay responds, and become dead letters after a week', async () => {
      await register(ada, '1', 11);
      await removeUser(ada);
      await idle(database.jobs);
      expect((await readRelayLinkStatus(database.db)).state).toBe('failing');
      relay.next(refused(401, 'UNAUTHORIZED'), 'cut');
      await pass(3_600_000);
      await pass(3_600_000);
      relay.otherwise({ status: 200, body: { result: 'success', msg: '' } });
      await pass(3_600_000);
      expect(removals()).toEqual([[11], [11], [11], [11]]);

      await register(bob, '1', 21);
      relay.otherwise({ status: 503 });
      await removeUser(bob);
      await idle(database.jobs);
      await pass(7 * dayMilliseconds);
      expect(await database.jobs.list({ state: 'dead' })).toMatchObject([
        { kind: 'push-devices/remove-relay-devices', reason: expect.stringContaining('503') },
      ]);
    });

    it.each([
      [404, 'not JSON'],
      [404, { result: 'error', msg: 'no', code: 'NOT_FOUND' }],
      [405, { result: 'error', msg: 'Method not allowed' }],
      [400, { result: 'error', msg: 'Invalid endpoint', code: 'BAD_REQUEST' }],
    ])('are sent once to a stock relay, whose response %i changes and logs nothing', async (status, body) => {
      await register(ada, '1', 11);
      const before = log.text();
      relay.otherwise({ status, body });
      await removeUser(ada);
      await idle(database.jobs);
      await pass(dayMilliseconds);
      expect(removals()).toEqual([[11]]);
      expect((await database.jobs.list({ kind: 'push-devices/remove-relay-devices' })).length).toBe(0);
      expect((await readRelayLinkStatus(database.db)).state).toBe('working');
      expect(log.text()).toBe(before);
    });

    it('exclude devices that another user of the same phone still uses', async () => {
      await register(ada, '1', 11);
      await register(bob, '1', 11);
      await register(ada, '2', 12);
      relay.otherwise({ status: 200, body: { result: 'success', msg: '' } });
      await removeUser(ada);
      await idle(database.jobs);
      expect(removals()).toEqual([[12]]);
      await removeUser(bob);
      await idle(database.jobs);
      expect(removals()).toEqual([[12], [11]]);
    });

    it('wait while a registration may get the same device, and then exclude such a device', async () => {
      await register(ada, '1', 11);
      relay.otherwise({ status: 503 });
      await accept(bob, '1', 'b');
      await idle(database.jobs);
      await removeUser(ada);
      await idle(database.jobs);
      expect(removals()).toEqual([]);
      relay.otherwise(registered(11));
      await pass(60_000);
      await pass(60_000);
      await pass(60_000);
      expect(removals()).toEqual([]);
      expect(await database.jobs.list({ kind: 'push-devices/remove-relay-devices' })).toEqual([]);
    });

    it('include a device that a newer registration has replaced, but not an unchanged device', async () => {
      await register(ada, '1', 11);
      await register(ada, '1', 11, 'another push key');
      expect(removals()).toEqual([]);
      relay.next(registered(12), { status: 200, body: { result: 'success', msg: '' } });
      await accept(ada, '1', 'another token');
      await idle(database.jobs);
      expect(removals()).toEqual([[11]]);
    });

    it('include a device whose registration was superseded before the relay accepted it', async () => {
      await accept(ada, '1', 'a');
      await idle(database.jobs);
      // The user is removed while the registration is in flight to the relay.
      const gone = new Promise<void>((resolve) => {
        relay.otherwise(({ path }) => {
          if (path === removePath) return { status: 404 };
          void removeUser(ada).then(resolve);
          return { status: 200, body: { result: 'success', msg: '', device_id: 11 } };
        });
      });
      await pass(1000);
      await gone;
      await pass(1000);
      const isKnown = await database.db.selectFrom('push_devices').select('id').execute();
      expect(isKnown).toEqual([]);
      expect(removals()).toEqual([[11]]);
    });

    it('include devices that the relay reported as dead, unless the phone has re-registered', async () => {
      await register(ada, '1', 11);
      await register(ada, '2', 12);
      relay.next(notified([11, 12]));
      relay.otherwise({ status: 404 });
      const content = { type: 'test', time: 1 } as const;
      await push.notify([ada], { content, giveUpAt: now + 60_000 });
      await idle(database.jobs);
      expect(removals()).toEqual([]);
      await register(ada, '2', 12, 'again');
      await pass(10 * 60_000);
      expect(removals()).toEqual([[11]]);
    });

    it('are sent in requests of at most 200', async () => {
      await database.write(async ({ db }) => {
        for (let id = 1; id <= 250; id += 1) {
          const row = {
            user_id: ada,
            push_account_id: accountIdText(id),
            generation: 1,
            registration_hash: 'a',
          };
          await db
            .insertInto('push_devices')
            .values({ ...row, changed_at: now, relay_device_id: relayDeviceId(id) })
            .execute();
        }
      });
      relay.otherwise({ status: 404 });
      await removeUser(ada);
      await idle(database.jobs);
      expect(
        removals()
          .map(({ length }) => length)
          .sort(),
      ).toEqual([200, 50]);
    });

    it('survive a cleanup of old failed registrations and old test notifications', async () => {
      await register(ada, '1', 11);
      relay.otherwise({ status: 503 });
      const failed = await accept(ada, '2', 'x');
      const later = await accept(ada, '3', 'y');
      const replaced = await accept(ada, '1', 'z');
      await database.write(async (transaction) => {
        await failRegistration(transaction, failed, 'REQUEST_EXPIRED', now);
        await failRegistration(transaction, replaced, 'REQUEST_EXPIRED', now);
        await failRegistration(transaction, later, 'REQUEST_EXPIRED', now + 2 * dayMilliseconds);
        for (const sent_at of [now, now + 30 * dayMilliseconds]) {
          await transaction.db.insertInto('test_notifications').values({ user_id: ada, sent_at }).execute();
        }
      });
      await pass(30 * dayMilliseconds + 1);
      const accounts = await database.db
        .selectFrom('push_devices')
        .select('push_account_id')
        .orderBy('id')
        .execute();
      expect(accounts.map((row) => row.push_account_id)).toEqual(['1', '3']);
      expect(await database.db.selectFrom('test_notifications').select('sent_at').execute()).toEqual([
        { sent_at: now - 1 },
      ]);
      const text = await metrics.text();
      expect(text).toContain('waxwing_rows_removed_total{kind="failed-push-device"} 1');
      expect(text).toContain('waxwing_rows_removed_total{kind="test-notification"} 1');
    });
  });
});
