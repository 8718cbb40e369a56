import { describe, expect, it } from 'vitest';
import { settleRoleGroups } from '#server/people/groups/settle-role-groups.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

const day = 24 * 60 * 60_000;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  describe('the role groups', () => {
    it('are nested from owners to everyone on the internet, each with the users of its role', async () => {
      const groups = await organisation.groups();
      const idOf = (name: string) => groups[`role:${name}`]?.id;
      const shown = Object.entries(groups).map(([name, { members, direct_subgroup_ids }]) => [
        name,
        members,
        direct_subgroup_ids,
      ]);
      const { id } = organisation;
      const who = (name: Parameters<typeof id>[0]) => organisation.id(name);
      const members = [who('member'), who('second'), who('bot')];
      expect(shown).toEqual([
        ['role:nobody', [], []],
        ['role:owners', [who('owner')], []],
        ['role:administrators', [who('administrator')], [idOf('owners')]],
        ['role:moderators', [who('moderator')], [idOf('administrators')]],
        ['role:fullmembers', members, [idOf('moderators')]],
        ['role:members', members, [idOf('fullmembers')]],
        ['role:everyone', [who('guest')], [idOf('members')]],
        ['role:internet', [], [idOf('everyone')]],
      ]);
    });

    it('have no creator, and no user holds any of their permissions', async () => {
      const { 'role:owners': owners, 'role:nobody': nobody } = await organisation.groups();
      expect(owners).toMatchObject({
        is_system_group: true,
        deactivated: false,
        creator_id: null,
        can_add_members_group: nobody?.id,
        can_join_group: nobody?.id,
        can_leave_group: nobody?.id,
        can_manage_group: nobody?.id,
        can_mention_group: nobody?.id,
        can_remove_members_group: nobody?.id,
      });
    });

    it('are visible to members and bots, but not to guests', async () => {
      for (const who of ['member', 'bot'] as const)
        expect((await organisation.ask(who, 'GET', 'user_groups')).status).toBe(200);
      const { status, body } = await organisation.ask('guest', 'GET', 'user_groups');
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    });
  });

  describe('updating the role groups', () => {
    const settle = (waitingPeriodDays: number, now: number) =>
      organisation.server.server.database.write(({ db }) => settleRoleGroups(db, { waitingPeriodDays, now }));

    it('makes members full members exactly when their waiting period ends', async () => {
      const { now } = organisation.server;
      const fullMembers = await organisation.roleGroup('fullmembers');
      const userIds = [organisation.id('member'), organisation.id('second'), organisation.id('bot')];
      expect(await settle(3, now)).toEqual([{ op: 'remove_members', groupId: fullMembers, userIds }]);
      expect(await settle(3, now + 3 * day - 1)).toEqual([]);
      expect(await settle(3, now + 3 * day)).toEqual([{ op: 'add_members', groupId: fullMembers, userIds }]);
    });

    it('moves a user with a new role from the old role’s groups to the new role’s groups', async () => {
      const { db } = organisation.server.server.database;
      const second = organisation.id('second');
      const [members, fullMembers, moderators] = [
        await organisation.roleGroup('members'),
        await organisation.roleGroup('fullmembers'),
        await organisation.roleGroup('moderators'),
      ];
      const setRole = (role: number) =>
        db.updateTable('users').set({ role }).where('id', '=', second).execute();
      await setRole(300);
      const [left, joined] = [
        [
          { op: 'remove_members', groupId: fullMembers, userIds: [second] },
          { op: 'remove_members', groupId: members, userIds: [second] },
        ],
        [{ op: 'add_members', groupId: moderators, userIds: [second] }],
      ];
      expect(await settle(0, 0)).toEqual([...left, ...joined]);
      await setRole(400);
      expect((await settle(0, 0)).map(({ op, groupId }) => [op, groupId])).toEqual([
        ['remove_members', moderators],
        ['add_members', fullMembers],
        ['add_members', members],
      ]);
      expect(await settle(0, 0)).toEqual([]);
    });
  });
});
