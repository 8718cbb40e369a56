import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QueueListener } from '#server/platform/event-queues/queue-listeners.js';
import { accountIdText, userId } from '../../../support/ids.js';
import { eachBackend } from '../../../support/test-databases.js';
import { commandsUnderTest } from '../commands-under-test.js';
import { type Account, ServerUnderTest } from '../server-under-test.js';

eachBackend((backend) => {
  let test: ServerUnderTest;
  beforeEach(async () => {
    test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl(), withoutRelay: true });
    // Commands use the machine's clock. With a different server clock, its queues would look idle and expire.
    test.now = Date.now();
  });
  afterEach(() => test.close());

  const { run, runJson } = commandsUnderTest(() => test);

  function account(added: Record<string, unknown>): Account {
    const [email, apiKey] = [String(added.email), String(added.api_key)];
    const authorization = `Basic ${Buffer.from(`${email}:${apiKey}`).toString('base64')}`;
    return { userId: userId(Number(added.user_id)), email, apiKey, authorization };
  }

  describe('invitation links of a user', () => {
    const people = [
      { command: 'rotate-key', words: 'Rotated the key of' },
      { command: 'set-password', words: 'Set the password of' },
      { command: 'deactivate', words: 'Deactivated' },
    ] as const;

    it.each(people)('are revoked by $command, which prints their number', async ({ command, words }) => {
      await runJson('users add --email owner@example.com --role owner');
      const administrators = [];
      for (const name of ['ada', 'bob', 'eve']) {
        const added = await runJson(`users add --email ${name}@example.com --role administrator`);
        administrators.push(account(added));
      }
      const [ada, bob, eve] = administrators as [Account, Account, Account];
      const make = async (who: Account) => {
        const { body } = await test.ask(who, 'POST', 'invites/multiuse');
        return new URL(String(body.invite_link)).pathname;
      };
      const links = [await make(ada), await make(ada)];
      const other = await make(bob);
      const events = await test.openQueue(bob, { event_types: '["invites_changed"]' });
      const yes = command === 'set-password' ? '' : ' --yes';
      const { code, printed } = await run(
        `users ${command} ada@example.com${yes}`,
        undefined,
        'eight or more',
      );
      expect([code, printed]).toEqual([0, expect.stringContaining(words)]);
      expect(printed.split('\n')[0]).toContain(' Revoked 2 of their invitation links.');
      expect(await events()).toMatchObject([{ type: 'invites_changed' }]);
      for (const link of links) expect((await test.server.app.inject(link)).statusCode).toBe(404);
      expect((await test.server.app.inject(other)).statusCode).toBe(200);
      await make(eve);
      const { printed: json } = await run(
        `users ${command} eve@example.com${yes} --json`,
        undefined,
        'eight or more',
      );
      expect(JSON.parse(json)).toMatchObject({ revoked_invitations: 1 });
    });
  });

  describe('push devices of a user', () => {
    it.each(['rotate-key', 'set-password'])(
      'are removed by %s, while those of other users stay',
      async (command) => {
        const ada = account(await runJson('users add --email ada@example.com'));
        const bob = account(await runJson('users add --email bob@example.com'));
        const { db } = test.server.database;
        const row = (id: number, owner: Account) => ({
          user_id: owner.userId,
          push_account_id: accountIdText(id),
          generation: 1,
          registration_hash: '',
          changed_at: Date.now(),
        });
        await db
          .insertInto('push_devices')
          .values([row(1, ada), row(2, bob)])
          .execute();
        const yes = command === 'set-password' ? '' : ' --yes';
        await run(`users ${command} ada@example.com${yes}`, undefined, 'eight or more');
        const left = await db.selectFrom('push_devices').select('user_id').execute();
        expect(left).toEqual([{ user_id: bob.userId }]);
      },
    );
  });

  describe('event queues of a user', () => {
    it.each(['rotate-key', 'set-password'])(
      'are ended by %s, and a waiting poll gets a response',
      async (command) => {
        const ada = account(await runJson('users add --email ada@example.com'));
        const { body } = await test.ask(ada, 'POST', 'register', { fetch_event_types: '[]' });
        const waits = vi.spyOn(QueueListener.prototype, 'wait');
        const waiting = test.ask(ada, 'GET', 'events', {
          queue_id: String(body.queue_id),
          last_event_id: '-1',
        });
        await expect.poll(() => waits.mock.calls).toHaveLength(1);
        waits.mockRestore();
        const yes = command === 'set-password' ? '' : ' --yes';
        await run(`users ${command} ada@example.com${yes}`, undefined, 'eight or more');
        const { status, body: answer } = await waiting;
        expect([status, answer.code]).toEqual([400, 'BAD_EVENT_QUEUE_ID']);
      },
    );
  });
});
