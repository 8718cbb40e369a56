import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { type GroupOnWire, sharedOrganisation } from '../organisation-under-test.js';
import { groupsUnderTest } from './groups-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let name: string;
  beforeEach(() => {
    name = organisation.newName();
  });

  const { create, groupNamed } = groupsUnderTest(organisation, () => name);

  describe('deactivating a group', () => {
    it('hides the group, keeps its members and name, and can be undone', async () => {
      const id = await create({ members: [organisation.id('second')] });
      await organisation.do('member', 'POST', `user_groups/${id}/deactivate`);
      const { user_groups: shown } = await organisation.do('member', 'GET', 'user_groups');
      expect((shown as GroupOnWire[]).map((group) => group.id)).not.toContain(id);
      expect(await groupNamed()).toMatchObject({ deactivated: true, members: [organisation.id('second')] });
      const again = await organisation.ask('member', 'POST', `user_groups/${id}/deactivate`);
      expect([again.status, again.body.msg]).toEqual([400, 'User group is already deactivated']);
      const taken = { name, description: '', members: [] };
      expect((await organisation.ask('member', 'POST', 'user_groups/create', taken)).status).toBe(400);
      await organisation.do('member', 'POST', `user_groups/${id}/members`, {
        add: [organisation.id('member')],
      });
      await organisation.do('member', 'PATCH', `user_groups/${id}`, { deactivated: false });
      expect(await groupNamed()).toMatchObject({ deactivated: false });
    });

    it('is published as a removal to clients without support for deactivated groups, and reactivation as an addition', async () => {
      const capable = await organisation.watch('guest', {
        client_capabilities: '{"include_deactivated_groups":true,"unheard_of":true}',
      });
      const other = await organisation.watch('guest', { client_capabilities: '{}' });
      const id = await create();
      const group = await groupNamed();
      const steps = [
        ['POST', `user_groups/${id}/deactivate`, {}],
        ['PATCH', `user_groups/${id}`, { description: 'in between' }],
        ['PATCH', `user_groups/${id}`, { deactivated: false }],
      ] as const;
      for (const [method, path, fields] of steps) await organisation.do('member', method, path, fields);
      const update = (data: object) => ({ type: 'user_group', op: 'update', group_id: id, data });
      const added = { type: 'user_group', op: 'add', group };
      expect(await capable()).toEqual([
        added,
        update({ deactivated: true }),
        update({ description: 'in between' }),
        update({ deactivated: false }),
      ]);
      expect(await other()).toEqual([
        added,
        { type: 'user_group', op: 'remove', group_id: id },
        { ...added, group: { ...group, description: 'in between' } },
      ]);
    });

    it('keeps the group in the register response only for clients that support deactivated groups', async () => {
      const id = await create();
      await organisation.do('member', 'POST', `user_groups/${id}/deactivate`);
      const told = async (include_deactivated_groups: boolean) => {
        const fields = {
          fetch_event_types: ['realm_user_groups'],
          client_capabilities: { include_deactivated_groups },
        };
        const { realm_user_groups: groups } = await organisation.do('guest', 'POST', 'register', fields);
        return (groups as GroupOnWire[]).some((group) => group.id === id);
      };
      expect([await told(true), await told(false)]).toEqual([true, false]);
    });

    it('prevents the use of the group as a subgroup or in a permission', async () => {
      const id = await create();
      await organisation.do('member', 'POST', `user_groups/${id}/deactivate`);
      name = organisation.newName();
      const other = await create();
      const attempts = [
        ['POST', `user_groups/${other}/subgroups`, { add: [id] }],
        ['PATCH', `user_groups/${other}`, { can_leave_group: { new: id } }],
        [
          'PATCH',
          `user_groups/${other}`,
          {
            can_leave_group: { new: { direct_members: [organisation.id('member')], direct_subgroups: [id] } },
          },
        ],
      ] as const;
      for (const [method, path, fields] of attempts) {
        const { status, body } = await organisation.ask('member', method, path, fields);
        expect([status, body.msg]).toEqual([400, expect.stringContaining('deactivated')]);
      }
    });

    it('is refused while the group is in use, with a list of all its uses', async () => {
      const id = await create({ can_join_group: { direct_members: [], direct_subgroups: [] } });
      await organisation.do('member', 'PATCH', `user_groups/${id}`, { can_mention_group: { new: id } });
      name = organisation.newName();
      const outer = await create({ subgroups: [id] });
      const member = organisation.id('member');
      await organisation.do('member', 'PATCH', `user_groups/${outer}`, {
        can_leave_group: { new: id },
        can_mention_group: { new: { direct_members: [member], direct_subgroups: [id] } },
      });
      await organisation.do('owner', 'PATCH', 'realm', { can_add_custom_emoji_group: { new: id } });
      const { status, body } = await organisation.ask('member', 'POST', `user_groups/${id}/deactivate`);
      expect([status, body.code]).toEqual([400, 'CANNOT_DEACTIVATE_GROUP_IN_USE']);
      expect(body.objections).toEqual([
        { type: 'subgroup', supergroup_ids: [outer] },
        { type: 'user_group', group_id: outer, settings: ['can_leave_group', 'can_mention_group'] },
        { type: 'realm', settings: ['can_add_custom_emoji_group'] },
      ]);
      await organisation.do('owner', 'PATCH', 'realm', {
        can_add_custom_emoji_group: { new: await organisation.roleGroup('members') },
      });
    });

    it('cannot succeed together with a concurrent request that uses the group in a permission', async () => {
      for (let round = 0; round < 5; round += 1) {
        name = organisation.newName();
        const id = await create();
        const answers = await Promise.all([
          organisation.ask('owner', 'PATCH', 'realm', { can_add_custom_emoji_group: { new: id } }),
          organisation.ask('member', 'POST', `user_groups/${id}/deactivate`),
        ]);
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
        await organisation.do('owner', 'PATCH', 'realm', {
          can_add_custom_emoji_group: { new: await organisation.roleGroup('members') },
        });
      }
    });
  });
});
