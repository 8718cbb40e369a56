import type { UserId } from '@waxwing/protocol';
import { roles } from '@waxwing/server';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addressVisibility } from '#server/people/users/address-visibility.js';
import { beginPublishing } from '#server/platform/event-queues/read-with-queue.js';
import { whileLocked } from '../../../support/lock-waits.js';
import { eachPostgres } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import type { Answer } from '../server-under-test.js';

/** Limits: concurrent reads, queued requests per user, and one request above the limit. */
const [atOnce, inLine, refused] = [3, 20, 1];

const times = (count: number, ask: () => Promise<Answer>) => Array.from({ length: count }, ask);

eachPostgres((postgres) => {
  const organisation = sharedOrganisation(postgres, { offersWebPublicChannels: true });
  const database = () => organisation.server.server.database.db;
  const registers = () => organisation.ask('member', 'POST', 'register');

  beforeAll(() => organisation.do('owner', 'PATCH', 'realm', { enable_spectator_access: true }));
  beforeEach(async () => {
    await database().deleteFrom('event_queues').execute();
  });

  /** Runs `meanwhile` while a transaction holds the publishing lock, so that registrations wait for the lock. */
  function whilePublishing<Result>(meanwhile: (waiting: () => Promise<number>) => Promise<Result>) {
    return database()
      .transaction()
      .execute(async (transaction) => {
        await beginPublishing({ db: transaction });
        return meanwhile(async () => {
          const locks = await sql`select pid from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`.execute(
            transaction,
          );
          return locks.rows.length;
        });
      });
  }

  const expectRefusal = (answer: Answer) =>
    expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([
      ...[429, 'RATE_LIMIT_HIT', '2'],
    ]);

  async function expectAnswers(asked: readonly Promise<Answer>[], answered: number): Promise<void> {
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(answered);
    expect(statuses.filter((status) => status === 429)).toHaveLength(refused);
  }

  describe('the queue of registrations', () => {
    it('leaves connections for other requests while registrations wait for the lock, and refuses requests over a user’s limit', async () => {
      // Returns an array, because a returned promise would be awaited inside the transaction.
      const asked = await whilePublishing(async (waiting) => {
        const all = times(atOnce + inLine + refused, registers);
        await expect.poll(waiting).toBe(atOnce);
        expectRefusal(await Promise.race(all));
        await organisation.do('second', 'GET', 'users/me');
        expect(await waiting()).toBe(atOnce);
        return all;
      });
      await expectAnswers(asked, atOnce + inLine);
      const queues = await database().selectFrom('event_queues').select('queue_id').execute();
      expect(queues).toHaveLength(atOnce + inLine);
    });

    it('limits all clients without an account together, without effect on users', async () => {
      const { strangers, users } = await whilePublishing(async (waiting) => {
        const first = times(atOnce, registers);
        await expect.poll(waiting).toBe(atOnce);
        const all = times(inLine + refused, () => organisation.server.ask(undefined, 'POST', 'register'));
        expectRefusal(await Promise.race(all));
        return { strangers: all, users: [...first, registers()] };
      });
      await expectAnswers(strangers, inLine);
      expect((await Promise.all(users)).map(({ status }) => status)).toEqual(users.map(() => 200));
    });
  });

  it('a user who is demoted while the request waits gets only what the new role can see', async () => {
    const { server } = organisation;
    const demoted = await server.addAccount('demoted@example.com', { role: roles.administrator });
    const hidden = await server.addAccount('hidden@example.com');
    const setRow = (userId: UserId, set: { role?: number; email_address_visibility?: number }) =>
      database().updateTable('users').set(set).where('id', '=', userId).execute();
    await setRow(hidden.userId, { email_address_visibility: addressVisibility.administrators });
    const register = () => server.ask(demoted, 'POST', 'register', { fetch_event_types: '["realm_user"]' });
    expect(JSON.stringify((await register()).body)).toContain(hidden.email);
    const { status, body } = await whileLocked(
      database(),
      (transaction) =>
        transaction
          .updateTable('users')
          .set({ role: roles.member })
          .where('id', '=', demoted.userId)
          .execute(),
      register,
    );
    expect([status, body.is_admin]).toEqual([200, false]);
    expect(JSON.stringify(body)).not.toContain(hidden.email);
  });
});
