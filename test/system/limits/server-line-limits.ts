import { registerPushDevicePath } from '@waxwing/protocol';
import { roles } from '@waxwing/server';
import { tryLockExclusive } from '@waxwing/storage';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { beginPublishing } from '#server/platform/event-queues/read-with-queue.js';
import { testPhone } from '../../apps/server/server-under-test.js';
import { lockWaiters } from '../../support/lock-waiters.js';
import { type Answer, ask } from './ask.js';
import { answered, type Limit } from './limit.js';
import type { ServerUnderLimits } from './server-under-limits.js';

type ServerLimit = Limit<ServerUnderLimits>;

const path = '/api/v1/register';
const atOnce = 3;
const strangersInLine = 20;

/**
 * Sends this many queue registrations of the greedy user. They wait until publishing ends or, on SQLite, for the write
 * lock.
 */
async function openWhilePublishing(server: ServerUnderLimits, count: number): Promise<Promise<Answer>[]> {
  await expect.poll(() => dueJobs(server)).toBe(0);
  await server.holdOwn(beginPublishing);
  const asked = Array.from({ length: count }, () => server.ask('POST', 'register'));
  if (server.isOnPostgres) {
    await expect.poll(() => lockWaiters(server.test.server.database.db)).toBe(atOnce);
  }
  // Shows that the server handles other requests while the registrations wait.
  await expect(server.ask('GET', 'users/me')).resolves.toMatchObject({ status: 200 });
  expect(await Promise.race([...asked, 'none'])).toBe('none');
  return asked;
}

/**
 * Number of running and due jobs. While the lock is held, a job that publishes would wait for it and so block the last
 * free writer, which the registrations need.
 */
async function dueJobs({ test }: ServerUnderLimits): Promise<number> {
  const { count } = await test.server.database.db
    .withTables<{ readonly jobs: { readonly run_at: number } }>()
    .selectFrom('jobs')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('run_at', '<=', test.now)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Requests an event queue as an unauthenticated client. */
function askAsStranger({ url }: ServerUnderLimits): Promise<Answer> {
  return ask({ url: url + path, method: 'POST' });
}

async function letStrangersIn({ test, greedy }: ServerUnderLimits): Promise<void> {
  const owner = await test.addAccount(`owner-for-${greedy.email}`, { role: roles.owner });
  expect(await test.ask(owner, 'PATCH', 'realm', { enable_spectator_access: 'true' })).toMatchObject({
    status: 200,
  });
}

/**
 * Limits on queues of requests. Nothing is published while they are full, so other clients cannot open an event queue.
 */
export const serverLineLimits: readonly ServerLimit[] = [
  {
    id: 'server-event-queues-at-once',
    metric: answered(`POST ${path}`, 200),
    answer: [200],
    spares: 'who-sends-no-body',
    async provoke(server) {
      const asked = await openWhilePublishing(server, atOnce + 1);
      await server.release();
      const answers = await Promise.all(asked);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      await openWhilePublishing(server, atOnce + 1);
      return { status: answers.at(-1)?.status ?? 0 };
    },
    end: (server) => server.release(),
  },
  {
    id: 'server-event-queues-waiting',
    metric: answered(`POST ${path}`, 429),
    answer: [429, 'RATE_LIMIT_HIT', '2'],
    spares: 'who-sends-no-body',
    async provoke(server) {
      await letStrangersIn(server);
      const asked = await openWhilePublishing(server, atOnce);
      const strangers = Array.from({ length: strangersInLine + 1 }, () => askAsStranger(server));
      return Promise.race([...asked, ...strangers]);
    },
    end: (server) => server.release(),
  },
];

/** Limits that only concurrent transactions can reach. They need PostgreSQL. */
export const serverTransactionLimits: readonly ServerLimit[] = [
  {
    id: 'server-registrations-at-once',
    metric: answered(`POST ${registerPushDevicePath}`, 429),
    answer: [429, 'RATE_LIMIT_HIT', '1'],
    async provoke(server) {
      // Acts as another process that is storing a registration of the same user.
      const name = `registrations of user ${server.greedy.userId}`;
      await server.hold(({ db }) => sql`select ${tryLockExclusive(db, name)}`.execute(db));
      return server.ask('POST', 'mobile_push/register', testPhone('1').fields);
    },
    end: (server) => server.release(),
  },
];
