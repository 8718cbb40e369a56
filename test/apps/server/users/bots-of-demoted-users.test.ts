import { type Role, roles } from '@waxwing/server';
import { describe, expect, it } from 'vitest';
import { userId } from '../../../support/ids.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import type { Account } from '../server-under-test.js';

let people = 0;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const { accounts } = organisation;
  const users = () => organisation.server.server.database.db;

  const add = (role: Role, isBot = false) => {
    people += 1;
    return organisation.server.addAccount(`demoted${people}@example.com`, { role, isBot });
  };
  const addBot = async (owner: Account, role: Role) => {
    const bot = await add(role, true);
    const set = { bot_owner_id: owner.userId };
    await users().updateTable('users').set(set).where('id', '=', bot.userId).execute();
    return bot;
  };
  const setRole = (by: Account, whom: Account, role: Role) =>
    organisation.server.ask(by, 'PATCH', `users/${whom.userId}`, { role: String(role) });
  const roleOf = async ({ userId: id }: Account) =>
    (await users().selectFrom('users').select('role').where('id', '=', id).executeTakeFirstOrThrow()).role;

  describe('the bots of a demoted user', () => {
    it('get the owner’s new role if their own role is above it, also in groups and events', async () => {
      const owner = await add(roles.administrator);
      const [high, low] = [await addBot(owner, roles.administrator), await addBot(owner, roles.guest)];
      const stranger = await addBot(await add(roles.administrator), roles.administrator);
      const events = await organisation.watch('member', { event_types: '["realm_user"]' });
      expect((await setRole(accounts.owner, owner, roles.moderator)).status).toBe(200);
      expect([await roleOf(high), await roleOf(low), await roleOf(stranger)]).toEqual([300, 600, 200]);
      expect(await events()).toEqual(
        [owner, high].map((each) => ({
          type: 'realm_user',
          op: 'update',
          person: { user_id: each.userId, role: roles.moderator },
        })),
      );
      const groups = await organisation.groups();
      expect(groups['role:administrators']?.members).not.toContain(high.userId);
      expect(groups['role:moderators']?.members).toContain(high.userId);
    });

    it('can no longer promote their owner', async () => {
      const owner = await add(roles.administrator);
      const bot = await addBot(owner, roles.administrator);
      await setRole(accounts.owner, owner, roles.member);
      const { status, body } = await setRole(bot, owner, roles.administrator);
      expect([status, body.msg, await roleOf(owner)]).toEqual([400, 'Insufficient permission', 400]);
    });

    it('are demoted even while deactivated, so that reactivation does not restore the old role', async () => {
      const owner = await add(roles.administrator);
      const bot = await addBot(owner, roles.administrator);
      await organisation.do('owner', 'DELETE', `users/${bot.userId}`);
      await setRole(accounts.owner, owner, roles.member);
      await organisation.do('owner', 'POST', `users/${userId(bot.userId)}/reactivate`);
      expect(await roleOf(bot)).toBe(roles.member);
    });

    it('keep their role after a promotion of the owner, and a role that they get later', async () => {
      const owner = await add(roles.member);
      const bot = await addBot(owner, roles.administrator);
      await setRole(accounts.owner, owner, roles.moderator);
      expect(await roleOf(bot)).toBe(roles.administrator);
      await setRole(accounts.owner, owner, roles.member);
      expect(await roleOf(bot)).toBe(roles.member);
      expect((await setRole(accounts.owner, bot, roles.moderator)).status).toBe(200);
      expect(await roleOf(bot)).toBe(roles.moderator);
    });

    it('can include the bot that demotes its owner', async () => {
      const owner = await add(roles.administrator);
      const bot = await addBot(owner, roles.administrator);
      expect((await setRole(bot, owner, roles.member)).status).toBe(200);
      expect([await roleOf(owner), await roleOf(bot)]).toEqual([400, 400]);
    });
  });
});
