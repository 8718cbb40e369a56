import type { JsonObject, UserId } from '@waxwing/protocol';
import { createServerPush, type ServerPushTables, serverPushMigrations } from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import { Metrics } from '@waxwing/service/metrics';
import { loadWasmSodium } from '@waxwing/sodium';
import { describe, expect, it } from 'vitest';
import { enqueueForwarding } from '#server-push/push-devices/enqueue-forwarding.js';
import { acceptRegistration } from '../../support/accept-registration.js';
import { idle } from '../../support/idle.js';
import { accountIdText, userId as user } from '../../support/ids.js';
import { createMemoryLog } from '../../support/memory-log.js';
import { RelayStandIn } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';

const sodium = await loadWasmSodium();
const [ada, bob] = [user(7), user(8)];
const day = 86_400_000;

describe('a registration that is not renewed', () => {
  eachBackend((backend) => {
    it('ends within a week after 90 days on server and relay, and the phone gets an event', async () => {
      let now = 1_773_000_000_000;
      const database = await backend.open<ServerPushTables>({
        migrations: [serverPushMigrations],
        now: () => now,
      });
      const relay = await RelayStandIn.start();
      relay.otherwise({ status: 200, body: { result: 'success', msg: '', device_id: 1 } });
      const events: [JsonObject, readonly number[]][] = [];
      const metrics = new Metrics();
      const push = await createServerPush({
        database,
        authenticate: async () => ({ userId: ada, isBot: false, lockUser: async () => undefined }),
        publish: async (_transaction, published) => {
          for (const { event, audience } of published) events.push([event, audience]);
        },
        relay: { kind: 'configured', url: relay.url, serverId: 'id', serverKey: new Secret('key') },
        realm: {
          uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
          url: 'https://chat.example.com',
          name: 'Example',
        },
        sodium,
        clock: () => now,
        random: () => 0,
        log: createMemoryLog().log,
        metrics,
      });
      await database.jobs.start();
      const register = async (userId: UserId) => {
        await database.write(async (transaction) => {
          const registration = {
            pushAccountId: accountIdText(userId),
            tokenKind: 'fcm' as const,
            pushPublicKey: 'a key',
            bouncerPublicKey: 'a bouncer key',
            encryptedPushRegistration: 'sealed',
            hash: `${now}`,
          };
          const accepted = await acceptRegistration(transaction, userId, registration, now);
          if (accepted.kind !== 'accepted') throw new Error('not accepted');
          await enqueueForwarding(database, transaction, accepted, now);
        });
        await idle(database.jobs);
      };
      const pass = async (milliseconds: number) => {
        now += milliseconds;
        await idle(database.jobs);
      };
      const passWeeks = async (weeks: number) => {
        for (let week = 0; week < weeks; week += 1) await pass(7 * day);
      };
      const removals = () =>
        relay.requests
          .filter(({ path }) => path.endsWith('/remove'))
          .map(({ body }) => new URLSearchParams(body).get('push_account_ids'));
      const active = { status: 'active', error_code: null };

      await register(ada);
      await register(bob);
      await passWeeks(8);
      await register(bob);
      events.length = 0;
      await passWeeks(4);
      expect(await push.pushDevicesOf(ada)).toEqual({ [ada]: active });
      expect(removals()).toEqual([]);
      await passWeeks(1);
      expect(await push.pushDevicesOf(ada)).toEqual({});
      expect(await push.pushDevicesOf(bob)).toEqual({ [bob]: active });
      expect(removals()).toEqual([]);
      await pass(10 * 60_000);
      expect(removals()).toEqual([`[${ada}]`]);
      const event = { type: 'push_device', push_account_id: String(ada), status: 'failed' };
      expect(events).toEqual([[{ ...event, error_code: 'NO_ACTIVE_PUSH_DEVICE' }, [ada]]]);
      expect(await metrics.text()).toContain('waxwing_rows_removed_total{kind="unrenewed-push-device"} 1');
      await register(ada);
      expect(await push.pushDevicesOf(ada)).toEqual({ [ada]: active });
      // After a clock jump or a long downtime, nothing is removed for a week.
      await pass(500 * day);
      await pass(6 * day);
      expect(await push.pushDevicesOf(ada)).toEqual({ [ada]: active });
      expect(await push.pushDevicesOf(bob)).toEqual({ [bob]: active });
      await register(ada);
      await pass(day);
      expect(await push.pushDevicesOf(ada)).toEqual({ [ada]: active });
      expect(await push.pushDevicesOf(bob)).toEqual({});
      await database.jobs.stop(0);
      await push.close();
      await relay.close();
    });
  });
});
