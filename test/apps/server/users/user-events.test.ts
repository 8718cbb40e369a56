import { hashCredential } from '@waxwing/service/config';
import { describe, expect, it } from 'vitest';
import { deactivateByAddress } from '#server/membership/user-administration/change-activity.js';
import { createUser, type UserToCreate } from '#server/people/users/create-user.js';
import { createPublisher } from '#server/platform/event-queues/publish-events.js';
import { queueNotifier } from '#server/platform/event-queues/queue-listeners.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const database = () => organisation.server.server.database;
  const userEvents = { event_types: '["realm_user"]' };

  function create(wanted: Partial<UserToCreate>) {
    const publish = createPublisher(queueNotifier(database().signals), () => organisation.server.now);
    const realm = { url: 'https://chat.example.com' };
    const user = {
      email: 'new@example.com',
      fullName: 'New',
      role: 400 as const,
      isBot: false,
      botOwnerId: undefined,
      apiKeyHash: hashCredential('x'),
      ...wanted,
    };
    return database().write((transaction) =>
      createUser(transaction, { publish, realm, now: organisation.server.now }, user),
    );
  }

  describe('a new user', () => {
    it('is published to all clients as listed, with the groups of the role', async () => {
      const users = await organisation.watch('guest', userEvents);
      const groups = await organisation.watch('guest', { event_types: '["user_group"]' });
      const { userId } = await organisation.server.addAccount('added@example.com');
      const { members } = await organisation.do('guest', 'GET', 'users', {
        user_ids: [userId],
        client_gravatar: false,
        include_custom_profile_fields: true,
      });
      expect(await users()).toEqual([{ type: 'realm_user', op: 'add', person: (members as unknown[])[0] }]);
      expect(await groups()).toContainEqual({
        type: 'user_group',
        op: 'add_members',
        group_id: await organisation.roleGroup('members'),
        user_ids: [userId],
      });
    });

    it('is not published to clients that cannot see the user', async () => {
      const restrict = async (to: 'members' | 'everyone') =>
        organisation.do('owner', 'PATCH', 'realm', {
          can_access_all_users_group: { new: await organisation.roleGroup(to) },
        });
      await restrict('members');
      const [guest, member] = [
        await organisation.watch('guest', userEvents),
        await organisation.watch('member', userEvents),
      ];
      await organisation.server.addAccount('unseen@example.com');
      await restrict('everyone');
      expect(await guest()).toEqual([]);
      expect(await member()).toHaveLength(1);
    });

    it.each([
      [{ email: 'no address' }, 'not a valid e-mail address'],
      [{ email: 'user1@chat.example.com' }, 'not a valid e-mail address for a user'],
      [{ email: 'OWNER@example.com' }, 'already exists'],
      [{ fullName: ' ' }, "can't be empty"],
      [{ fullName: 'a*b' }, 'Invalid characters'],
      [{ fullName: 'a|12' }, 'Invalid format'],
      [{ fullName: 'n'.repeat(101) }, 'too long'],
    ])('is refused with %o', async (wanted, sentence) => {
      const events = await organisation.watch('owner');
      await expect(create(wanted)).rejects.toThrow(sentence);
      expect(await events()).toEqual([]);
    });

    it('must have a unique name if the organization requires unique names', async () => {
      await organisation.do('owner', 'PATCH', 'realm', { require_unique_names: true });
      await create({ email: 'one@example.com', fullName: 'The One' });
      await expect(create({ email: 'two@example.com', fullName: 'the one' })).rejects.toThrow('Unique names');
      await organisation.do('owner', 'PATCH', 'realm', { require_unique_names: false });
    });
  });

  it('a deactivated user and their bots are published as inactive', async () => {
    const gone = await organisation.server.addAccount('gone@example.com');
    const bot = await organisation.server.addAccount('its-bot@example.com', { isBot: true });
    const { db } = database();
    await db.updateTable('users').set({ bot_owner_id: gone.userId }).where('id', '=', bot.userId).execute();
    const events = await organisation.watch('guest', userEvents);
    await deactivateByAddress(database(), () => organisation.server.now, gone.email);
    const inactive = (userId: number) => ({
      type: 'realm_user',
      op: 'update',
      person: { user_id: userId, is_active: false },
    });
    const told = await events();
    expect(told).toHaveLength(2);
    expect(told).toEqual(expect.arrayContaining([inactive(gone.userId), inactive(bot.userId)]));
  });
});
