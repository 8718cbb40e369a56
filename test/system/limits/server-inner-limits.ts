import { bouncerKeysPath, relayRemovePath } from '@waxwing/protocol';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { enqueueRemoval } from '#server-push/push-devices/remove-relay-devices.js';
import { type TestPhone, testPhone } from '../../apps/server/server-under-test.js';
import { accountIdText, relayDeviceId } from '../../support/ids.js';
import { openSealed } from '../../support/noble-oracle.js';
import { notified, type RelayRequest, registered } from '../../support/relay-stand-in.js';
import { type Answer, ask, form } from './ask.js';
import { answered, type Limit } from './limit.js';
import type { ServerUnderLimits } from './server-under-limits.js';

type ServerLimit = Limit<ServerUnderLimits>;

const hour = 3_600_000;
const day = 24 * hour;
const deadRemovals = 'waxwing_jobs{kind="push-devices/remove-relay-devices",state="dead"}';
const oldDeadLetters = 'waxwing_rows_removed_total{kind="dead-letter"}';

/** Requests the list of the greedy user's devices, as a phone does. */
function devices(server: ServerUnderLimits): Promise<Answer> {
  return server.ask('POST', 'register', { event_types: '[]', fetch_event_types: '["push_device"]' });
}

/** Enqueues this many device removals for the relay. */
async function remove({ test }: ServerUnderLimits, count: number): Promise<void> {
  const freed = Array.from({ length: count }, (_, index) => ({
    relayDeviceId: relayDeviceId(1_000_000 + index),
    pushAccountId: accountIdText(7),
  }));
  const { database } = test.server;
  await database.write((transaction) => enqueueRemoval(database, transaction, { freed, now: test.now }));
  await test.settle();
}

/** Creates a dead letter: keeps the relay unreachable until the removal of a device expires. */
async function deadRemoval(server: ServerUnderLimits): Promise<void> {
  server.test.relay.otherwise({ status: 503 });
  await remove(server, 1);
  server.test.now += 7 * day;
  await server.test.settle();
}

/** The decrypted message text for a phone in a request to the relay. */
function contentOf({ body }: RelayRequest, { publicKey, privateKey }: TestPhone): string {
  const { encrypted_data } = JSON.parse(body).push_requests[0].payload;
  const opened = openSealed(Buffer.from(encrypted_data, 'base64'), publicKey, privateKey);
  return JSON.parse(Buffer.from(opened ?? []).toString()).content;
}

/** Makes the relay respond as usual, and waits until no job is pending. */
async function relayIsBack({ test }: ServerUnderLimits): Promise<void> {
  test.relay.otherwise(registered(1));
  test.now += hour;
  await test.settle();
}

/** Limits on the server's background work. */
export const serverInnerLimits: readonly ServerLimit[] = [
  {
    id: 'metrics-job-seconds',
    answer: [200],
    spares: 'who-sends-no-body',
    async provoke(server) {
      server.test.relay.otherwise({ status: 503 });
      await server.ask('POST', 'mobile_push/register', testPhone('1').fields);
      expect(await server.metricsText()).toContain('waxwing_jobs{');
      // On SQLite, a query that counts jobs cannot run while the process writes.
      await server.holdOwn(async ({ db }) => {
        if (server.isOnPostgres) await sql`lock table jobs in access exclusive mode`.execute(db);
      });
      const text = await server.metricsText();
      expect(text).toContain('waxwing_http_connections ');
      expect(text).not.toContain('waxwing_jobs{');
      return server.ask('GET', 'users/me');
    },
    async end(server) {
      await server.release();
      await relayIsBack(server);
    },
  },
  {
    id: 'server-key-list-seconds',
    metric: answered(`GET ${bouncerKeysPath}`, 200),
    answer: [200],
    async provoke(server) {
      const bytes = (count: number) => Buffer.alloc(count, 'a').toString('base64');
      const list = { key_list: bytes(90), signature: bytes(64), signing_public_key: bytes(32) };
      server.test.now += 5000;
      server.test.relay.otherwise({ status: 200, body: { result: 'success', msg: '', ...list } });
      const { requests } = server.test.relay;
      const before = requests.length;
      await server.ask('GET', 'mobile_push/bouncer_keys');
      const answer = await server.ask('GET', 'mobile_push/bouncer_keys');
      expect(requests.length - before).toBe(1);
      return answer;
    },
  },
  {
    id: 'server-waiting-registrations',
    metric: 'waxwing_jobs{kind="push-devices/forward-further-registration",state="waiting"}',
    answer: [200],
    async provoke(server) {
      server.test.relay.otherwise({ status: 503 });
      const waiting = { pending_token_kind: 'fcm', pending_encrypted_registration: 'sealed' } as const;
      const row = { user_id: server.greedy.userId, generation: 1, registration_hash: '', ...waiting };
      const rows = Array.from({ length: 10 }, (_, index) => ({
        ...row,
        push_account_id: accountIdText(-index - 1),
        changed_at: server.test.now,
      }));
      await server.test.server.database.write(({ db }) =>
        db.insertInto('push_devices').values(rows).execute(),
      );
      const answer = await server.ask('POST', 'mobile_push/register', testPhone('1').fields);
      await server.test.settle();
      return answer;
    },
    end: relayIsBack,
  },
  {
    id: 'server-registration-tries',
    answer: [200],
    async provoke(server) {
      server.test.relay.otherwise({ status: 503 });
      await server.ask('POST', 'mobile_push/register', testPhone('1').fields);
      await server.test.settle();
      server.test.now += day - 1;
      await server.test.settle();
      expect((await devices(server)).body?.push_devices).toMatchObject({ '1': { status: 'pending' } });
      server.test.now += 1;
      await server.test.settle();
      const answer = await devices(server);
      const failed = { status: 'failed', error_code: 'REQUEST_EXPIRED' };
      expect(answer.body?.push_devices).toEqual({ '1': failed });
      return answer;
    },
    end: relayIsBack,
  },
  {
    id: 'server-notification-text',
    answer: [200],
    async provoke(server) {
      const phone = testPhone('1');
      const { authorization } = await server.test.addAccount(`writer-to-${server.greedy.email}`);
      await server.ask('POST', 'mobile_push/register', phone.fields);
      await server.test.settle();
      server.test.relay.otherwise(notified());
      const write = async (content: string) => {
        const message = { type: 'direct', to: `[${server.greedy.userId}]`, content };
        const answer = await ask(form(`${server.url}/api/v1/messages`, authorization, message));
        await server.test.settle();
        return answer;
      };
      await write('漢'.repeat(200));
      const answer = await write('漢'.repeat(201));
      const sent = server.test.relay.requests.slice(-2).map((request) => contentOf(request, phone));
      expect(sent).toEqual(['漢'.repeat(200), `${'漢'.repeat(200)}…`]);
      return answer;
    },
    end: relayIsBack,
  },
  {
    id: 'server-removals',
    answer: [200],
    async provoke(server) {
      const { requests } = server.test.relay;
      const removals = () => requests.filter(({ path }) => path === relayRemovePath).length;
      const before = removals();
      await remove(server, 200);
      expect(removals() - before).toBe(1);
      await remove(server, 201);
      expect(removals() - before).toBe(3);
      return devices(server);
    },
  },
  {
    id: 'server-removal-tries',
    metric: deadRemovals,
    answer: [200],
    async provoke(server) {
      await deadRemoval(server);
      return devices(server);
    },
    end: relayIsBack,
  },
  {
    id: 'dead-letters',
    metric: oldDeadLetters,
    answer: [200],
    async provoke(server) {
      await deadRemoval(server);
      server.test.now += 14 * day + hour;
      await server.test.settle();
      return devices(server);
    },
    end: relayIsBack,
  },
];
