import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { groupsUnderTest } from './groups-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let name: string;
  beforeEach(() => {
    name = organisation.newName();
  });

  const { create, groupNamed } = groupsUnderTest(organisation, () => name);

  describe('creating a group', () => {
    it('stores members, subgroups and permissions, and publishes the group to all clients', async () => {
      const events = await organisation.watch();
      const [inner, everyone] = [
        await organisation.roleGroup('owners'),
        await organisation.roleGroup('everyone'),
      ];
      const [member, second] = [organisation.id('member'), organisation.id('second')];
      const id = await create({
        members: [second, member, second],
        subgroups: [inner],
        can_join_group: { direct_members: [second], direct_subgroups: [] },
      });
      const group = await groupNamed();
      expect(group).toEqual({
        id,
        name,
        description: 'For tests',
        members: [member, second],
        direct_subgroup_ids: [inner],
        is_system_group: false,
        deactivated: false,
        creator_id: member,
        date_created: Math.floor(organisation.server.now / 1000),
        can_add_members_group: { direct_members: [member], direct_subgroups: [] },
        can_join_group: { direct_members: [second], direct_subgroups: [] },
        can_leave_group: everyone,
        can_manage_group: { direct_members: [member], direct_subgroups: [] },
        can_mention_group: everyone,
        can_remove_members_group: await organisation.roleGroup('nobody'),
      });
      expect(await events()).toEqual([{ type: 'user_group', op: 'add', group }]);
    });

    it('requires the permission to create groups, which guests never hold', async () => {
      const fields = { name, description: '', members: [] };
      const refused = await organisation.ask('guest', 'POST', 'user_groups/create', fields);
      expect([refused.status, refused.body.code]).toEqual([400, 'BAD_REQUEST']);
      await organisation.do('owner', 'PATCH', 'realm', {
        can_create_groups: { new: await organisation.roleGroup('moderators') },
      });
      const member = await organisation.ask('member', 'POST', 'user_groups/create', fields);
      expect([member.status, member.body.msg]).toEqual([400, 'Insufficient permission']);
      expect((await organisation.ask('moderator', 'POST', 'user_groups/create', fields)).status).toBe(200);
      await organisation.do('owner', 'PATCH', 'realm', {
        can_create_groups: { new: await organisation.roleGroup('members') },
      });
    });

    it('trims the name, and refuses another group’s name in any letter case', async () => {
      await create({ name: `  ${name} ` });
      const { status, body } = await organisation.ask('second', 'POST', 'user_groups/create', {
        name: name.toUpperCase(),
        description: '',
        members: [],
      });
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', expect.stringContaining('exists')]);
    });

    it('succeeds for only one of several concurrent requests with the same name', async () => {
      const fields = { name, description: '', members: [] };
      const answers = await Promise.all(
        (['member', 'second', 'owner', 'moderator'] as const).map((who) =>
          organisation.ask(who, 'POST', 'user_groups/create', fields),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    });
  });

  describe('changing a group', () => {
    it('publishes only the changed fields, to all clients', async () => {
      const id = await create();
      const events = await organisation.watch();
      const everyone = await organisation.roleGroup('everyone');
      await organisation.do('member', 'PATCH', `user_groups/${id}`, {
        name: `${name} renamed`,
        description: 'For tests',
        can_leave_group: { new: everyone },
        can_manage_group: {
          new: { direct_members: [], direct_subgroups: [await organisation.roleGroup('owners')] },
        },
      });
      expect(await events()).toEqual([
        {
          type: 'user_group',
          op: 'update',
          group_id: id,
          data: { name: `${name} renamed`, can_manage_group: await organisation.roleGroup('owners') },
        },
      ]);
    });

    it('can change only the letter case of the name', async () => {
      const id = await create();
      await organisation.do('member', 'PATCH', `user_groups/${id}`, { name: name.toUpperCase() });
      expect((await groupNamed(name.toUpperCase())).id).toBe(id);
    });

    it('requires the permission to manage the group or all groups; lesser permissions do not suffice', async () => {
      const id = await create({
        can_add_members_group: await organisation.roleGroup('members'),
        can_remove_members_group: await organisation.roleGroup('members'),
      });
      for (const who of ['second', 'moderator', 'administrator', 'guest', 'bot'] as const) {
        const { status, body } = await organisation.ask(who, 'PATCH', `user_groups/${id}`, {
          description: 'x',
        });
        expect([who, status, body.code]).toEqual([who, 400, 'BAD_REQUEST']);
      }
      await organisation.do('owner', 'PATCH', `user_groups/${id}`, { description: 'by an owner' });
      await organisation.do('member', 'PATCH', `user_groups/${id}`, {
        can_manage_group: { new: await organisation.roleGroup('moderators') },
      });
      await organisation.do('administrator', 'PATCH', `user_groups/${id}`, {
        description: 'through nesting',
      });
      const { status } = await organisation.ask('member', 'PATCH', `user_groups/${id}`, { description: 'x' });
      expect([status, (await groupNamed()).description]).toEqual([400, 'through nesting']);
    });

    it('changes nothing if one field is refused', async () => {
      const id = await create();
      const before = await groupNamed();
      const events = await organisation.watch();
      const { status } = await organisation.ask('member', 'PATCH', `user_groups/${id}`, {
        name: `${name} renamed`,
        can_mention_group: { new: 999_999 },
      });
      expect([status, await groupNamed(), await events()]).toEqual([400, before, []]);
    });

    it('never changes a role group', async () => {
      const id = await organisation.roleGroup('members');
      const requests = [
        ['PATCH', `user_groups/${id}`, { description: 'x' }],
        ['POST', `user_groups/${id}/members`, { add: [organisation.id('guest')] }],
        ['POST', `user_groups/${id}/subgroups`, { add: [await create()] }],
        ['POST', `user_groups/${id}/deactivate`, {}],
      ] as const;
      for (const [method, path, fields] of requests) {
        const { status, body } = await organisation.ask('owner', method, path, fields);
        expect([status, body.msg]).toEqual([400, 'Insufficient permission']);
      }
    });
  });

  describe('a change of a permission', () => {
    it('is refused if the current value is not the expected value, in any form', async () => {
      const id = await create();
      const [everyone, owners] = [
        await organisation.roleGroup('everyone'),
        await organisation.roleGroup('owners'),
      ];
      const path = `user_groups/${id}`;
      const stale = {
        new: owners,
        old: { direct_members: [organisation.id('member')], direct_subgroups: [] },
      };
      const { status, body } = await organisation.ask('member', 'PATCH', path, { can_leave_group: stale });
      expect([status, body.code, body.field_name]).toEqual([400, 'EXPECTATION_MISMATCH', 'old']);
      const asObject = { direct_members: [], direct_subgroups: [everyone] };
      await organisation.do('member', 'PATCH', path, { can_leave_group: { new: owners, old: asObject } });
      expect((await groupNamed()).can_leave_group).toBe(owners);
    });

    it('succeeds for only one of two concurrent changes with the same expected value', async () => {
      const old = await organisation.roleGroup('everyone');
      const [owners, members] = [
        await organisation.roleGroup('owners'),
        await organisation.roleGroup('members'),
      ];
      for (let round = 0; round < 8; round += 1) {
        name = organisation.newName();
        const id = await create();
        const answers = await Promise.all([
          organisation.ask('member', 'PATCH', `user_groups/${id}`, { can_leave_group: { new: owners, old } }),
          organisation.ask('owner', 'PATCH', `user_groups/${id}`, { can_leave_group: { new: members, old } }),
        ]);
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      }
    });

    it('stores a set of members and subgroups sorted, and distinct from a group', async () => {
      const id = await create();
      const [moderators, owners] = [
        await organisation.roleGroup('moderators'),
        await organisation.roleGroup('owners'),
      ];
      const [member, second] = [organisation.id('member'), organisation.id('second')];
      const set = async (value: unknown) => {
        await organisation.do('owner', 'PATCH', `user_groups/${id}`, { can_mention_group: { new: value } });
        return (await groupNamed()).can_mention_group;
      };
      expect(
        await set({ direct_members: [second, member, second], direct_subgroups: [moderators, owners] }),
      ).toEqual({
        direct_members: [member, second],
        direct_subgroups: [owners, moderators],
      });
      expect(await set({ direct_members: [member], direct_subgroups: [] })).toEqual({
        direct_members: [member],
        direct_subgroups: [],
      });
      expect(await set({ direct_members: [], direct_subgroups: [owners] })).toBe(owners);
      expect(await set({ direct_members: [], direct_subgroups: [] })).toBe(
        await organisation.roleGroup('nobody'),
      );
      // A group that existed only as a permission's value is deleted with it.
      const { db } = organisation.server.server.database;
      const unnamed = db.selectFrom('user_groups').select('id').where('name', 'is', null);
      const used = db.selectFrom('permissions').select('group_id');
      expect(await unnamed.where('id', 'not in', used).execute()).toEqual([]);
    });

    it.each([
      ['an unknown group', () => 999_999, 'Invalid user group'],
      ['everyone where guests cannot have it', () => organisation.roleGroup('everyone'), 'cannot be set to'],
      ['everyone on the internet', () => organisation.roleGroup('internet'), 'cannot be set to'],
      ['an unknown user', () => ({ direct_members: [999_999], direct_subgroups: [] }), 'Invalid user ID'],
      [
        'an unknown subgroup',
        () => ({ direct_members: [1], direct_subgroups: [999_999] }),
        'Invalid user group ID',
      ],
    ])('is refused for %s', async (_what, value, sentence) => {
      const id = await create();
      const before = await groupNamed();
      const wish = { can_manage_group: { new: await value() } };
      const { status, body } = await organisation.ask('member', 'PATCH', `user_groups/${id}`, wish);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(body.msg).toContain(sentence);
      expect(await groupNamed()).toEqual(before);
    });
  });
});
