import { bouncerKeysPath, registerPushDevicePath, testNotificationPath } from '@waxwing/protocol';
import { expect } from 'vitest';
import { testPhone } from '../../apps/server/server-under-test.js';
import { request } from '../../packages/service/http/listening-app.js';
import { accountIdText } from '../../support/ids.js';
import { notified, registered } from '../../support/relay-stand-in.js';
import type { Answer } from './ask.js';
import { answered, type Limit, refusals } from './limit.js';
import type { ServerUnderLimits } from './server-under-limits.js';

type ServerLimit = Limit<ServerUnderLimits>;

const badRequest = [400, 'BAD_REQUEST'] as const;
const queuePath = '/api/v1/register';
const eventsPath = '/api/v1/events';
const registrations = (status: number) => answered(`POST ${registerPushDevicePath}`, status);
const gone = { metric: answered(`GET ${eventsPath}`, 400), answer: [400, 'BAD_EVENT_QUEUE_ID'] } as const;

function register(
  server: ServerUnderLimits,
  id: string,
  changes: Record<string, string> = {},
): Promise<Answer> {
  return server.ask('POST', 'mobile_push/register', { ...testPhone(id).fields, ...changes });
}

function notify(server: ServerUnderLimits): Promise<Answer> {
  return server.ask('POST', 'mobile_push/e2ee/test_notification');
}

async function within(good: Promise<Answer>): Promise<void> {
  expect(await good).toMatchObject({ status: 200 });
}

async function activate(server: ServerUnderLimits): Promise<void> {
  server.test.relay.otherwise(registered(server.greedy.userId));
  await within(register(server, '1'));
  await server.test.settle();
  server.test.relay.otherwise(notified());
}

async function openQueue(server: ServerUnderLimits): Promise<string> {
  return String((await server.ask('POST', 'register', { event_types: '["push_device"]' })).body?.queue_id);
}

/** Reads an event queue without waiting. */
function look(server: ServerUnderLimits, queueId: string): Promise<Answer> {
  return server.ask('GET', 'events', { queue_id: queueId, last_event_id: '-1', dont_block: 'true' });
}

function pollText(server: ServerUnderLimits, queueId: string): string {
  const headers = `authorization: ${server.greedy.authorization}\r\n`;
  return request(`GET ${eventsPath}?queue_id=${queueId}&last_event_id=-1`, headers);
}

const requests: readonly ServerLimit[] = [
  {
    id: 'server-requests-per-user',
    metric: refusals('actor-requests'),
    answer: [429, 'RATE_LIMIT_HIT', '1'],
    async provoke(server, door) {
      for (let count = 0; count < 5; count++) await door.hold(1, pollText(server, await openQueue(server)));
      return server.ask('POST', 'register');
    },
  },
  {
    id: 'server-polls-per-queue',
    metric: answered(`GET ${eventsPath}`, 200),
    answer: [200],
    async provoke(server, door) {
      const queue = await openQueue(server);
      const older = await door.connect();
      older.send(pollText(server, queue));
      await expect.poll(async () => (await door.counts()).requests).toBe(1);
      (await door.connect()).send(pollText(server, queue));
      await expect.poll(() => older.statuses).toEqual([200]);
      expect(older.text).toContain('"events":[]');
      expect((await door.counts()).requests).toBe(1);
      return { status: older.statuses[0] ?? 0 };
    },
  },
  {
    id: 'server-registrations-per-hour',
    metric: registrations(429),
    answer: [429, 'RATE_LIMIT_HIT', '720'],
    async provoke(server) {
      for (const id of ['1', '2', '3', '4', '5']) await within(register(server, id));
      return register(server, '6');
    },
  },
  {
    id: 'server-test-notifications-per-device',
    metric: answered(`POST ${testNotificationPath}`, 429),
    answer: [429, 'RATE_LIMIT_HIT', '10'],
    async provoke(server) {
      await activate(server);
      await within(notify(server));
      return notify(server);
    },
  },
  {
    id: 'server-test-notifications-per-hour',
    metric: answered(`POST ${testNotificationPath}`, 429),
    answer: [429, 'RATE_LIMIT_HIT', '3400'],
    async provoke(server) {
      await activate(server);
      for (let count = 0; count < 20; count++) {
        await within(notify(server));
        server.test.now += 10_000;
      }
      return notify(server);
    },
  },
];

const numbers: readonly ServerLimit[] = [
  {
    id: 'server-push-devices',
    metric: registrations(400),
    answer: badRequest,
    async provoke(server) {
      const { userId: user_id } = server.greedy;
      const row = { user_id, generation: 1, registration_hash: '', changed_at: Date.now() };
      const rows = Array.from({ length: 999 }, (_, index) => ({
        ...row,
        push_account_id: accountIdText(-index - 1),
      }));
      await server.test.server.database.write(({ db }) =>
        db.insertInto('push_devices').values(rows).execute(),
      );
      await within(register(server, '1'));
      return register(server, '2');
    },
  },
  {
    id: 'server-event-queues',
    ...gone,
    async provoke(server) {
      const oldest = await openQueue(server);
      server.test.now += 1;
      for (let count = 0; count < 49; count++) await openQueue(server);
      await within(look(server, oldest));
      await openQueue(server);
      return look(server, oldest);
    },
  },
  {
    id: 'server-events-per-queue',
    ...gone,
    async provoke(server) {
      const queue = await openQueue(server);
      // Fills the event queue to one event below its limit.
      await server.test.server.database.write(({ db }) =>
        db.updateTable('event_queues').set({ last_event_id: 998 }).where('queue_id', '=', queue).execute(),
      );
      server.test.relay.otherwise(registered(1));
      await within(register(server, '1'));
      await server.test.settle();
      await within(look(server, queue));
      await within(register(server, '2'));
      await server.test.settle();
      return look(server, queue);
    },
  },
  {
    id: 'server-idle-event-queue',
    ...gone,
    async provoke(server) {
      const queue = await openQueue(server);
      server.test.now += 10 * 60_000;
      return look(server, queue);
    },
  },
];

/** Limits on the content of requests and responses. They do not depend on the database. */
export const serverSizeLimits: readonly ServerLimit[] = [
  {
    id: 'server-head-bytes',
    answer: [431, 'REQUEST_HEADERS_TOO_LARGE'],
    async provoke(server) {
      const head = (characters: number) => server.ask('GET', `users/me?padding=${'x'.repeat(characters)}`);
      await within(head(140_000));
      return head(145_000);
    },
  },
  {
    id: 'server-register-bytes',
    metric: registrations(413),
    answer: [413, 'PAYLOAD_TOO_LARGE'],
    provoke: (server) => register(server, '1', { padding: 'x'.repeat(128 * 1024) }),
  },
  {
    id: 'server-registration-characters',
    metric: registrations(400),
    answer: badRequest,
    async provoke(server) {
      await within(register(server, '1', { encrypted_push_registration: 'A'.repeat(72_000) }));
      return register(server, '2', { encrypted_push_registration: 'A'.repeat(72_004) });
    },
  },
  {
    id: 'server-event-types',
    metric: answered(`POST ${queuePath}`, 400),
    answer: badRequest,
    async provoke(server) {
      const open = (count: number) =>
        server.ask('POST', 'register', { event_types: JSON.stringify(Array(count).fill('message')) });
      await within(open(100));
      return open(101);
    },
  },
  {
    id: 'server-event-type-characters',
    metric: answered(`POST ${queuePath}`, 400),
    answer: badRequest,
    async provoke(server) {
      const open = (characters: number) =>
        server.ask('POST', 'register', { event_types: JSON.stringify(['m'.repeat(characters)]) });
      await within(open(100));
      return open(101);
    },
  },
  {
    id: 'server-relay-answer-bytes',
    metric: answered(`GET ${bouncerKeysPath}`, 403),
    answer: [403, 'ADMIN_ACTION_REQUIRED'],
    async provoke(server) {
      const bytes = (count: number) => Buffer.alloc(count, 'a').toString('base64');
      const list = { key_list: bytes(90), signature: bytes(64), signing_public_key: bytes(32) };
      const padded = (length: number) => ({
        status: 200,
        body: { result: 'success', msg: '', ...list, padding: 'x'.repeat(length) },
      });
      // After five seconds, the server no longer uses its cached result.
      server.test.now += 5000;
      server.test.relay.otherwise(padded(256 * 1024));
      const refused = await server.ask('GET', 'mobile_push/bouncer_keys');
      server.test.now += 5000;
      server.test.relay.otherwise(padded(255 * 1024));
      await within(server.ask('GET', 'mobile_push/bouncer_keys'));
      return refused;
    },
  },
];

/** Limits on a user's requests to the server, each with the response beyond the limit. */
export const serverLimits: readonly ServerLimit[] = [...requests, ...numbers];
