import type { JsonObject, UserId } from '@waxwing/protocol';
import { createServerPush, type ServerPushTables, serverPushMigrations } from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import { Metrics } from '@waxwing/service/metrics';
import { loadWasmSodium } from '@waxwing/sodium';
import { describe, expect, it } from 'vitest';
import { enqueueForwarding, registrationJobKinds } from '#server-push/push-devices/enqueue-forwarding.js';
import { acceptRegistration } from '../../support/accept-registration.js';
import { idle } from '../../support/idle.js';
import { accountIdText, userId as user } from '../../support/ids.js';
import { createMemoryLog } from '../../support/memory-log.js';
import { eachBackend } from '../../support/test-databases.js';

const sodium = await loadWasmSodium();
const hour = 3_600_000;
const [ada, bob] = [user(7), user(8)];

describe('a registration without a job', () => {
  eachBackend((backend) => {
    it('fails after a day and notifies the phone, which then re-registers', async () => {
      const start = 1_773_000_000_000;
      let now = start;
      const database = await backend.open<ServerPushTables>({
        migrations: [serverPushMigrations],
        now: () => now,
      });
      const told: [JsonObject, readonly number[]][] = [];
      const push = await createServerPush({
        database,
        authenticate: async () => ({ userId: ada, isBot: false, lockUser: async () => undefined }),
        publish: async (_transaction, events) => {
          for (const { event, audience } of events) told.push([event, audience]);
        },
        // Nothing listens on this port.
        relay: {
          kind: 'configured',
          url: 'http://127.0.0.1:1',
          serverId: 'id',
          serverKey: new Secret('key'),
        },
        realm: {
          uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
          url: 'https://chat.example.com',
          name: 'Example',
        },
        sodium,
        clock: () => now,
        random: () => 0,
        log: createMemoryLog().log,
        metrics: new Metrics(),
      });
      const accept = (userId: UserId) =>
        database.write(async (transaction) => {
          const registration = {
            pushAccountId: accountIdText(userId),
            tokenKind: 'fcm' as const,
            pushPublicKey: 'a push key',
            bouncerPublicKey: 'a bouncer key',
            encryptedPushRegistration: 'sealed',
            hash: 'a hash',
          };
          const accepted = await acceptRegistration(transaction, userId, registration, now);
          if (accepted.kind === 'accepted') await enqueueForwarding(database, transaction, accepted, now);
          return accepted.kind;
        });
      await accept(ada);
      const [job] = await database.jobs.list({ kind: registrationJobKinds.common });
      expect(await database.jobs.drop(job?.id ?? '')).toBe(true);
      await database.jobs.start();
      now = start + 20 * hour;
      await accept(bob);
      now = start + 25 * hour;
      await idle(database.jobs);
      const pending = { status: 'pending', error_code: null };
      expect(await push.pushDevicesOf(ada)).toEqual({ [ada]: pending });
      expect(await accept(ada)).toBe('unchanged');
      now = start + 26 * hour;
      await idle(database.jobs);
      expect(await push.pushDevicesOf(ada)).toEqual({
        [ada]: { status: 'failed', error_code: 'REQUEST_EXPIRED' },
      });
      expect(await push.pushDevicesOf(bob)).toEqual({ [bob]: pending });
      expect(told).toMatchObject([[{ type: 'push_device', status: 'failed' }, [ada]]]);
      expect(await accept(ada)).toBe('accepted');
      await database.jobs.stop(0);
      await push.close();
    });
  });
});
