import { roles } from '@waxwing/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { type Account, ServerUnderTest } from '../server-under-test.js';

const rounds = 8;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  /** A second server on the same database if the backend allows it. */
  let other: ServerUnderTest;
  beforeAll(async () => {
    const { server } = organisation;
    const { databaseUrl } = server;
    other =
      backend.name === 'sqlite' ? server : await ServerUnderTest.start({ databaseUrl, withoutRelay: true });
    await store(organisation.accounts.owner, { can_change_user_emails: 1 });
  });
  afterAll(async () => {
    if (other !== organisation.server) await other.close();
  });

  const users = () => organisation.server.server.database.db;

  const store = ({ userId }: Account, values: Record<string, number>) =>
    users().updateTable('users').set(values).where('id', '=', userId).execute();

  interface Wish {
    readonly by: Account;
    readonly whom: Account;
    readonly fields: Record<string, string>;
  }

  /** Sends one request to each server at the same time. Returns the sorted statuses. */
  async function race(one: Wish, another: Wish): Promise<number[]> {
    const ask = (server: ServerUnderTest, { by, whom, fields }: Wish) =>
      server.ask(by, 'PATCH', `users/${whom.userId}`, fields);
    const answers = await Promise.all([ask(organisation.server, one), ask(other, another)]);
    return answers.map(({ status }) => status).sort();
  }

  async function countOwners(): Promise<number> {
    const { owners } = await users()
      .selectFrom('users')
      .select((count) => count.fn.countAll<number>().as('owners'))
      .where('role', '=', roles.owner)
      .executeTakeFirstOrThrow();
    return Number(owners);
  }

  describe('concurrent requests', () => {
    it.each(['each other', 'themselves'])('of two owners who demote %s leave one owner', async (whom) => {
      const { owner, second } = organisation.accounts;
      const fields = { role: String(roles.member) };
      for (let round = 0; round < rounds; round++) {
        await store(second, { role: roles.owner });
        const isCrossed = whom === 'each other';
        const answers = await race(
          { by: owner, whom: isCrossed ? second : owner, fields },
          { by: second, whom: isCrossed ? owner : second, fields },
        );
        expect([answers, await countOwners()]).toEqual([[200, 400], 1]);
        await store(owner, { role: roles.owner });
        await store(second, { role: roles.member });
      }
    });

    it('give a name to only one of two users if names must be unique', async () => {
      const { owner, member, second } = organisation.accounts;
      await organisation.do('owner', 'PATCH', 'realm', { require_unique_names: true });
      for (let round = 0; round < rounds; round++) {
        const fields = { full_name: `Wanted ${round}` };
        expect(await race({ by: owner, whom: member, fields }, { by: owner, whom: second, fields })).toEqual([
          200, 400,
        ]);
      }
    });

    it('give an address to only one of two users', async () => {
      const { owner, member, second } = organisation.accounts;
      for (let round = 0; round < rounds; round++) {
        const fields = { new_email: `wanted${round}@example.com` };
        expect(await race({ by: owner, whom: member, fields }, { by: owner, whom: second, fields })).toEqual([
          200, 400,
        ]);
      }
    });
  });
});
