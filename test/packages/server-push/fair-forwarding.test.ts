import type { UserId } from '@waxwing/protocol';
import { createServerPush, type ServerPushTables, serverPushMigrations } from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import { Metrics } from '@waxwing/service/metrics';
import { loadWasmSodium } from '@waxwing/sodium';
import { expect, it } from 'vitest';
import { acceptRegistration } from '../../../packages/server-push/src/push-devices/accept-registration.js';
import { enqueueForwarding } from '../../../packages/server-push/src/push-devices/forward-registration.js';
import { ServerUnderTest, testPhone } from '../../apps/server/server-under-test.js';
import { userId as user } from '../../support/ids.js';
import { createMemoryLog } from '../../support/memory-log.js';
import { RelayStandIn, registered } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';

const sodium = await loadWasmSodium();
const now = 1_773_000_000_000;
const [ada, bob] = [user(7), user(8)];
const testMilliseconds = 60_000;

eachBackend((backend) => {
  it(
    'a registration is taken to the relay within a few others, though five thousand of another user wait longer',
    async () => {
      const relay = await RelayStandIn.start();
      const database = await backend.open<ServerPushTables>({
        migrations: [serverPushMigrations],
        now: () => now,
      });
      let tellActive: () => void = () => undefined;
      const isActive = new Promise<void>((resolve) => {
        tellActive = resolve;
      });
      const push = createServerPush({
        database,
        authenticate: async () => ({ userId: ada, isBot: false, hold: async () => undefined }),
        publish: async (transaction, events) => {
          if (events.some(({ audience }) => audience.includes(bob))) transaction.afterCommit(tellActive);
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
        metrics: new Metrics(),
      });
      const accept = (userId: UserId, ids: readonly number[], repeats: number) =>
        database.write(async (transaction) => {
          for (const id of ids) {
            const registration = {
              ...{ pushAccountId: String(id), tokenKind: 'fcm' as const, pushPublicKey: 'a push key' },
              ...{ bouncerPublicKey: 'a bouncer key', encryptedPushRegistration: 'sealed', hash: 'a hash' },
            };
            const accepted = await acceptRegistration(transaction, userId, registration, now);
            if (accepted.kind !== 'accepted') throw new Error('not accepted');
            await enqueueForwarding(database, transaction, accepted, now);
            // Of a phone that registers again and again while all others of its user wait.
            for (let again = 0; again < repeats; again += 1) {
              await enqueueForwarding(database, transaction, { ...accepted, waitingBefore: 1000 }, now);
            }
          }
        });
      // As many devices as a user may have.
      for (let first = 1; first <= 1000; first += 100) {
        const ids = Array.from({ length: 100 }, (_, index) => first + index);
        await accept(ada, ids, 4);
      }
      await accept(bob, [5000], 0);
      relay.otherwise(registered(1));
      await database.jobs.start();
      await isActive;
      const accountIds = relay.requests.map(({ body }) => new URLSearchParams(body).get('push_account_id'));
      expect(accountIds.indexOf('5000')).toBeLessThan(20);
      expect(await push.pushDevicesOf(bob)).toEqual({ '5000': { status: 'active', error_code: null } });
      expect(await push.pushDevicesOf(ada)).toMatchObject({ '1000': { status: 'pending' } });
      await database.jobs.stop(0);
      await push.close();
      await relay.close();
    },
    testMilliseconds,
  );
});

it('all registrations of a user wait no longer when the relay is back, also those that wait apart', async () => {
  const test = await ServerUnderTest.start();
  try {
    const phones = Array.from({ length: 12 }, (_, index) => testPhone(String(index)));
    const account = await test.addAccount('ada@example.com');
    for (const { fields } of phones) await test.register(account, fields);
    // Until they are tried only every few minutes.
    for (let hour = 0; hour < 10; hour += 1) {
      await test.settle();
      test.now += 3_600_000;
    }
    await test.settle();
    test.relay.otherwise(registered(1));
    await test.register(account, testPhone('99').fields);
    const active = { status: 'active', error_code: null };
    const expected = Object.fromEntries([...phones.keys(), 99].map((id) => [id, active]));
    const afterAnotherSecond = async () => {
      await test.settle();
      test.now += 1000;
      return test.pushDevices(account);
    };
    await expect.poll(afterAnotherSecond, { timeout: 10_000 }).toEqual(expected);
  } finally {
    await test.close();
  }
});
