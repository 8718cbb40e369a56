import type { UserId } from '@waxwing/protocol';
import { createServerPush, type ServerPushTables, serverPushMigrations } from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import { Metrics } from '@waxwing/service/metrics';
import { loadWasmSodium } from '@waxwing/sodium';
import { expect, it } from 'vitest';
import { enqueueForwarding } from '#server-push/push-devices/enqueue-forwarding.js';
import { ServerUnderTest, testPhone } from '../../apps/server/server-under-test.js';
import { acceptRegistration } from '../../support/accept-registration.js';
import { accountIdText, userId as user } from '../../support/ids.js';
import { createMemoryLog } from '../../support/memory-log.js';
import { RelayStandIn, registered } from '../../support/relay-stand-in.js';
import { eachBackend, type TestBackend } from '../../support/test-databases.js';

const sodium = await loadWasmSodium();
const now = 1_773_000_000_000;
const [ada, bob] = [user(7), user(8)];
const testMilliseconds = 60_000;

/** Creates a server that queues registrations until `forward` starts to send them to the relay. */
async function waitingServer(backend: TestBackend) {
  const relay = await RelayStandIn.start();
  relay.otherwise(registered(1));
  const database = await backend.open<ServerPushTables>({
    migrations: [serverPushMigrations],
    now: () => now,
  });
  let tellActive: () => void = () => undefined;
  const isActive = new Promise<void>((resolve) => {
    tellActive = resolve;
  });
  const push = await createServerPush({
    database,
    authenticate: async () => ({ userId: ada, isBot: false, lockUser: async () => undefined }),
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
  return {
    push,
    accept: (userId: UserId, ids: readonly number[], repeats: number) =>
      database.write(async (transaction) => {
        for (const id of ids) {
          const registration = {
            pushAccountId: accountIdText(id),
            tokenKind: 'fcm' as const,
            pushPublicKey: 'a push key',
            bouncerPublicKey: 'a bouncer key',
            encryptedPushRegistration: 'sealed',
            hash: 'a hash',
          };
          const accepted = await acceptRegistration(transaction, userId, registration, now);
          if (accepted.kind !== 'accepted') throw new Error('not accepted');
          await enqueueForwarding(database, transaction, accepted, now);
          // This phone re-registers repeatedly while its user's other phones wait.
          for (let again = 0; again < repeats; again += 1) {
            await enqueueForwarding(database, transaction, { ...accepted, waitingBefore: 1000 }, now);
          }
        }
      }),
    /**
     * Forwards registrations until the relay has received the given account. Returns the accounts in the order of the
     * requests.
     */
    async forward(pushAccountId: number): Promise<string[]> {
      const asked = () =>
        relay.requests.map(({ body }) => new URLSearchParams(body).get('push_account_id') ?? '');
      await database.jobs.start();
      await expect.poll(asked, { timeout: testMilliseconds }).toContain(String(pushAccountId));
      return asked();
    },
    isActive,
    async close() {
      await database.jobs.stop(0);
      await push.close();
      await relay.close();
    },
  };
}

const numbers = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);

eachBackend((backend) => {
  it(
    'a registration is forwarded soon, even if another user has five thousand queued registrations',
    async () => {
      const server = await waitingServer(backend);
      // Ada has the maximum number of devices.
      for (let first = 1; first <= 1000; first += 100) await server.accept(ada, numbers(first, 100), 4);
      await server.accept(bob, [5000], 0);
      const asked = await server.forward(5000);
      await server.isActive;
      expect(asked.indexOf('5000')).toBeLessThan(20);
      expect(await server.push.pushDevicesOf(bob)).toEqual({
        '5000': { status: 'active', error_code: null },
      });
      expect(await server.push.pushDevicesOf(ada)).toMatchObject({ '1000': { status: 'pending' } });
      await server.close();
    },
    testMilliseconds,
  );

  it.each([
    ['first', 1],
    ['twelfth', 12],
  ])(
    'a user’s %s registration is not far behind those of a hundred earlier users with fourteen each',
    async (_name, turn) => {
      const server = await waitingServer(backend);
      const others = numbers(1000, 100);
      for (const other of others) await server.accept(user(other), numbers(other * 100 + 1, 14), 0);
      await server.accept(bob, numbers(1, turn), 0);
      const asked = await server.forward(turn);
      const ahead = asked.slice(0, asked.indexOf(String(turn)));
      const ofTurn = (wanted: number) => ahead.filter((id) => Number(id) % 100 === wanted).length;
      expect(ofTurn(turn)).toBeGreaterThan(50);
      // Some requests of the next round are in flight at the same time.
      expect(ofTurn(turn + 1)).toBeLessThanOrEqual(40);
      expect(ofTurn(turn + 2)).toBe(0);
      await server.close();
    },
    testMilliseconds,
  );
});

it('all pending registrations of a user are forwarded soon after the relay is back', async () => {
  const test = await ServerUnderTest.start();
  try {
    const phones = Array.from({ length: 12 }, (_, index) => testPhone(String(index)));
    const account = await test.addAccount('ada@example.com');
    for (const { fields } of phones) await test.register(account, fields);
    // Advances through ten hours of failed attempts, after which retries are minutes apart.
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
