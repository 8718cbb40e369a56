import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { JsonObject, UserId } from '@waxwing/protocol';
import {
  createServerPush,
  type ServerPush,
  type ServerPushTables,
  serverPushMigrations,
} from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import { Metrics } from '@waxwing/service/metrics';
import { loadWasmSodium } from '@waxwing/sodium';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { enqueueForwarding } from '#server-push/push-devices/enqueue-forwarding.js';
import { activePushDevices } from '#server-push/push-devices/push-device-store.js';
import { acceptRegistration } from '../../support/accept-registration.js';
import { idle } from '../../support/idle.js';
import { accountIdText, userId as user } from '../../support/ids.js';
import { createMemoryLog } from '../../support/memory-log.js';
import { type RelayRequest, RelayStandIn, registered } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';

const sodium = await loadWasmSodium();
const [ada, bob] = [user(7), user(8)];
const success = { status: 200, body: { result: 'success', msg: '' } };

eachBackend((backend) => {
  describe('a server whose relay reports registrations with the same token', () => {
    let now: number;
    let database: DatabaseWithJobs<ServerPushTables>;
    let relay: RelayStandIn;
    let push: ServerPush;
    let events: [JsonObject, readonly number[]][];

    beforeEach(async () => {
      now = 1_773_000_000_000;
      events = [];
      database = await backend.open<ServerPushTables>({ migrations: [serverPushMigrations], now: () => now });
      relay = await RelayStandIn.start();
      push = await createServerPush({
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
        metrics: new Metrics(),
      });
      await database.jobs.start();
    });
    afterEach(async () => {
      await database.jobs.stop(0);
      await push.close();
      await relay.close();
    });

    const accept = (userId: UserId, pushAccountId: string) =>
      database.write(async (transaction) => {
        const registration = {
          pushAccountId: accountIdText(pushAccountId),
          tokenKind: 'fcm' as const,
          pushPublicKey: 'a push key',
          bouncerPublicKey: 'a bouncer key',
          encryptedPushRegistration: 'sealed',
          hash: `${pushAccountId} ${now}`,
        } as const;
        const accepted = await acceptRegistration(transaction, userId, registration, now);
        if (accepted.kind !== 'accepted') throw new Error('not accepted');
        await enqueueForwarding(database, transaction, accepted, now);
      });

    const formOf = ({ body }: RelayRequest) => new URLSearchParams(body);
    const isRegistration = ({ path }: RelayRequest) => path.endsWith('/register');
    /**
     * Scripts the relay: a device id is the account's number plus 1000, and `sameToken` lists the accounts to report
     * for each account.
     */
    function answer(sameToken: Readonly<Record<string, readonly number[]>> = {}) {
      answerBy((id) => sameToken[id]);
    }
    function answerBy(sameTokenOf: (account: string) => readonly number[] | undefined) {
      relay.otherwise((request) => {
        if (!isRegistration(request)) return success;
        const id = formOf(request).get('push_account_id') ?? '';
        const found = sameTokenOf(id);
        const more = found === undefined ? {} : { same_token_push_account_ids: found };
        return { ...success, body: { ...success.body, device_id: 1000 + Number(id), ...more } };
      });
    }
    const active = async (userId: UserId) =>
      (await activePushDevices(database.db, userId)).map(({ pushAccountId }) => pushAccountId);
    const removed = () =>
      relay.requests
        .filter(({ path }) => path.endsWith('/remove'))
        .flatMap((request) => JSON.parse(formOf(request).get('device_ids') ?? '') as number[]);

    async function register(userId: UserId, pushAccountId: string): Promise<void> {
      now += 1;
      await accept(userId, pushAccountId);
      await idle(database.jobs);
    }

    it('sends the relay only the user’s own accounts', async () => {
      answer();
      for (const [userId, id] of [
        [ada, '1'],
        [bob, '2'],
        [ada, '3'],
        [ada, '-9223372036854775808'],
        [ada, '1'],
      ] as const) {
        await register(userId, id);
      }
      const named = relay.requests
        .filter(isRegistration)
        .map((request) => formOf(request).get('accounts_of_user'));
      expect(named).toEqual([null, null, '[1]', '[3,1]', '[-9223372036854775808,3]']);
    });

    it('keeps the user’s newest account, and drops older accounts on server and relay without an event', async () => {
      answer({ 3: [1, 2] });
      await register(ada, '1');
      await register(bob, '2');
      await register(ada, '4');
      await register(ada, '3');
      expect(await active(ada)).toEqual(['4', '3']);
      expect(await active(bob)).toEqual(['2']);
      expect(Object.keys(await push.pushDevicesOf(ada))).toEqual(['3', '4']);
      expect(removed()).toEqual([1001]);
      expect(events.map(([{ push_account_id, status }]) => [push_account_id, status])).toEqual([
        ['1', 'active'],
        ['2', 'active'],
        ['4', 'active'],
        ['3', 'active'],
      ]);
    });

    it('keeps the account that the phone re-registers, even if the account is older', async () => {
      answer();
      await register(ada, '1');
      await register(ada, '2');
      answer({ 1: [2] });
      await register(ada, '1');
      expect(await active(ada)).toEqual(['1']);
      expect(removed()).toEqual([1002]);
    });

    // Depending on the order in which the relay handles the two registrations, either or both find the other.
    it.each([
      ['each finds the other', { 1: [2], 2: [1] }],
      ['only the older finds the newer', { 1: [2] }],
      ['only the newer finds the older', { 2: [1] }],
    ])(
      'keeps the newer of two accounts that wait for the relay at the same time: %s',
      async (_, sameToken) => {
        relay.otherwise({ status: 503 });
        await register(ada, '1');
        await register(ada, '2');
        const atFirst = new Map(Object.entries<readonly number[]>(sameToken));
        const asked = new Set<string>();
        answerBy((id) => {
          if (asked.has(id)) return [id === '1' ? 2 : 1];
          asked.add(id);
          return atFirst.get(id);
        });
        now += 60_000;
        await idle(database.jobs);
        expect(await active(ada)).toEqual(['2']);
        expect(removed()).toEqual([1001]);
      },
    );

    it('keeps both accounts if an older relay returns only the device id', async () => {
      relay.otherwise((request) =>
        isRegistration(request) ? registered(Number(formOf(request).get('push_account_id'))) : success,
      );
      await register(ada, '1');
      await register(ada, '2');
      expect(await active(ada)).toEqual(['1', '2']);
    });
  });
});
