import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { type GroupOnWire, sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let name: string;
  beforeEach(() => {
    name = organisation.newName();
  });

  async function create(fields: Record<string, unknown> = {}): Promise<number> {
    const all = { name: organisation.newName(), description: '', members: [], ...fields };
    return (await organisation.do('member', 'POST', 'user_groups/create', all)).group_id as number;
  }
  const groupNamed = async () => (await organisation.groups())[name] as GroupOnWire;

  describe('the members of a group', () => {
    it('are added and removed together with subgroups, with one event for each kind', async () => {
      const [second, moderator] = [organisation.id('second'), organisation.id('moderator')];
      const [old, fresh] = [await create(), await create()];
      const id = await create({ name, members: [second], subgroups: [old] });
      const events = await organisation.watch();
      await organisation.do('member', 'POST', `user_groups/${id}/members`, {
        add: [moderator],
        delete: [second],
        add_subgroups: [fresh],
        delete_subgroups: [old],
      });
      expect(await groupNamed()).toMatchObject({ members: [moderator], direct_subgroup_ids: [fresh] });
      const told = (op: string, fields: object) => ({ type: 'user_group', op, group_id: id, ...fields });
      expect(await events()).toEqual([
        told('add_members', { user_ids: [moderator] }),
        told('remove_members', { user_ids: [second] }),
        told('add_subgroups', { direct_subgroup_ids: [fresh] }),
        told('remove_subgroups', { direct_subgroup_ids: [old] }),
      ]);
    });

    it('can join and leave if permitted, but cannot add or remove other users', async () => {
      const members = await organisation.roleGroup('members');
      const [second, moderator] = [organisation.id('second'), organisation.id('moderator')];
      const id = await create({ name, can_join_group: members });
      const path = `user_groups/${id}/members`;
      expect((await organisation.ask('second', 'POST', path, { add: [second, moderator] })).status).toBe(400);
      await organisation.do('second', 'POST', path, { add: [second] });
      await organisation.do('moderator', 'POST', path, { add: [moderator] });
      expect((await organisation.ask('second', 'POST', path, { delete: [moderator] })).status).toBe(400);
      await organisation.do('second', 'POST', path, { delete: [second] });
      expect((await groupNamed()).members).toEqual([moderator]);
    });

    it('are added by users with the add permission, and removed by users with the remove permission', async () => {
      const [second, moderator] = [organisation.id('second'), organisation.id('moderator')];
      const id = await create({
        name,
        can_add_members_group: { direct_members: [second], direct_subgroups: [] },
        can_remove_members_group: { direct_members: [moderator], direct_subgroups: [] },
      });
      const path = `user_groups/${id}/members`;
      await organisation.do('second', 'POST', path, { add: [second, moderator] });
      const refused = await organisation.ask('second', 'POST', path, { delete: [moderator] });
      expect([refused.status, refused.body.msg]).toEqual([400, 'Insufficient permission']);
      await organisation.do('moderator', 'POST', path, { delete: [second, moderator] });
      expect((await organisation.ask('moderator', 'POST', path, { add: [second] })).status).toBe(400);
    });

    it('cannot be managed by a guest, even if the permission’s value contains the guest', async () => {
      const guest = organisation.id('guest');
      const id = await create({
        name,
        members: [guest],
        can_manage_group: { direct_members: [guest, organisation.id('member')], direct_subgroups: [] },
      });
      const path = `user_groups/${id}/members`;
      const refused = await organisation.ask('guest', 'POST', path, { delete: [guest] });
      expect([refused.status, refused.body.code]).toEqual([400, 'BAD_REQUEST']);
    });

    it('are listed with or without the members of nested groups', async () => {
      const inner = await create({ members: [organisation.id('guest')] });
      const middle = await create({ subgroups: [inner], members: [organisation.id('second')] });
      const id = await create({ name, subgroups: [middle], members: [organisation.id('moderator')] });
      const ask = (rest: string, fields = {}) =>
        organisation.do('member', 'GET', `user_groups/${id}/${rest}`, fields);
      const guest = organisation.id('guest');
      expect((await ask('members')).members).toEqual([
        organisation.id('moderator'),
        guest,
        organisation.id('second'),
      ]);
      expect((await ask('members', { direct_member_only: true })).members).toEqual([
        organisation.id('moderator'),
      ]);
      expect((await ask('subgroups')).subgroups).toEqual([inner, middle]);
      expect((await ask('subgroups', { direct_subgroup_only: true })).subgroups).toEqual([middle]);
      expect((await ask(`members/${guest}`)).is_user_group_member).toBe(true);
      expect((await ask(`members/${guest}`, { direct_member_only: true })).is_user_group_member).toBe(false);
      expect((await ask(`members/${organisation.id('owner')}`)).is_user_group_member).toBe(false);
    });
  });

  describe('nesting', () => {
    it('never creates a cycle of any length', async () => {
      const ids = [await create(), await create(), await create(), await create()] as const;
      const nest = (outer: number, inner: number) =>
        organisation.ask('member', 'POST', `user_groups/${outer}/subgroups`, { add: [inner] });
      expect((await nest(ids[0], ids[0])).status).toBe(400);
      for (const index of [0, 1, 2] as const) {
        expect((await nest(ids[index], ids[index + 1] as number)).status).toBe(200);
      }
      for (const inner of ids) {
        const { status, body } = await nest(ids[3], inner);
        expect([status, body.code, body.msg]).toEqual([
          400,
          'BAD_REQUEST',
          expect.stringContaining('already'),
        ]);
      }
    });

    it('never creates a cycle from two concurrent changes that would each be valid alone', async () => {
      for (let round = 0; round < 8; round += 1) {
        const [a, b, c, d] = [await create(), await create(), await create(), await create()];
        const nest = (outer: number, inner: number) =>
          organisation.ask('member', 'POST', `user_groups/${outer}/subgroups`, { add: [inner] });
        await Promise.all([nest(a, b), nest(c, d)]);
        const answers = await Promise.all([nest(b, c), nest(d, a)]);
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      }
    });
  });

  describe('a group request', () => {
    const outside = 999_999;
    const good = () => ({ name: organisation.newName(), description: '', members: [] });
    it.each([
      ['an empty name', { name: ' ' }],
      ['a name that is too long', { name: 'n'.repeat(101) }],
      ['a name like a mention', { name: '@all' }],
      ['a name like a role', { name: 'role:kings' }],
      ['a name like a user', { name: 'user:9' }],
      ['a name like a stream', { name: 'stream:9' }],
      ['a name like a channel', { name: 'channel:9' }],
      ['a description that is too long', { description: 'd'.repeat(1025) }],
      ['members that are no list', { members: '7' }],
      ['members that are no numbers', { members: ['7'] }],
      ['members that are no JSON', { members: '[7' }],
      ['unknown members', { members: [outside] }],
      ['a member id below one', { members: [0] }],
      ['unknown subgroups', { subgroups: [outside] }],
      ['a permission of a wrong type', { can_manage_group: true }],
      ['a permission without members', { can_manage_group: { direct_subgroups: [] } }],
      ['a permission that is a fraction', { can_manage_group: 1.5 }],
    ])('is refused without side effects for a new group with %s', async (_what, fields) => {
      const before = await organisation.groups();
      const events = await organisation.watch();
      const { status, body } = await organisation.ask('member', 'POST', 'user_groups/create', {
        ...good(),
        ...fields,
      });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect([await organisation.groups(), await events()]).toEqual([before, []]);
    });

    it.each([
      ['PATCH', '', {}],
      ['PATCH', '', { name: '' }],
      ['PATCH', '', { name: 'role:kings' }],
      ['PATCH', '', { description: 'd'.repeat(1025) }],
      ['PATCH', '', { deactivated: 'yes' }],
      ['PATCH', '', { deactivated: true }],
      ['PATCH', '', { can_manage_group: 7 }],
      ['PATCH', '', { can_manage_group: { old: 7 } }],
      ['PATCH', '', { can_manage_group: { new: { direct_members: ['a'], direct_subgroups: [] } } }],
      ['POST', '/members', {}],
      ['POST', '/members', { add: [] }],
      ['POST', '/members', { add: 'everybody' }],
      ['POST', '/members', { add: [outside] }],
      ['POST', '/members', { delete: [outside] }],
      ['POST', '/members', { add_subgroups: [outside] }],
      ['POST', '/members', { delete_subgroups: [outside] }],
      ['POST', '/subgroups', {}],
      ['POST', '/subgroups', { add: [outside] }],
      ['POST', '/subgroups', { delete: [outside] }],
      ['POST', '/subgroups', { add: [-1] }],
    ] as const)('is refused without side effects: %s …%s with %j', async (method, path, fields) => {
      const id = await create({ name });
      const before = await organisation.groups();
      const events = await organisation.watch();
      const { status, body } = await organisation.ask('member', method, `user_groups/${id}${path}`, fields);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect([await organisation.groups(), await events()]).toEqual([before, []]);
    });

    it.each([
      ['PATCH', '', { description: 'x' }],
      ['POST', '/members', { add: [1] }],
      ['POST', '/subgroups', { add: [1] }],
      ['POST', '/deactivate', {}],
      ['GET', '/members', {}],
      ['GET', '/members/1', {}],
      ['GET', '/subgroups', {}],
    ] as const)('is refused for a group that does not exist: %s …%s', async (method, path, fields) => {
      for (const id of [String(outside), 'x', '-1']) {
        const { status, body } = await organisation.ask('owner', method, `user_groups/${id}${path}`, fields);
        expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      }
    });

    it.each([
      ['user_groups', 'include_deactivated_groups'],
      ['user_groups/1/members', 'direct_member_only'],
      ['user_groups/1/members/1', 'direct_member_only'],
      ['user_groups/1/subgroups', 'direct_subgroup_only'],
    ])('is refused for GET %s if %s is not a boolean', async (path, parameter) => {
      const { status, body } = await organisation.ask('owner', 'GET', path, { [parameter]: 'maybe' });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    });

    it.each(['[]', '"all"', '{"include_deactivated_groups":"yes"}'])(
      'is refused for the client capabilities %s',
      async (text) => {
        const { status, body } = await organisation.ask('owner', 'POST', 'register', {
          client_capabilities: text,
        });
        expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      },
    );

    it('is refused for a group that exists only as the value of a permission', async () => {
      await create({ name });
      const { db } = organisation.server.server.database;
      const unnamed = await db.selectFrom('user_groups').select('id').where('name', 'is', null).execute();
      const { status } = await organisation.ask('owner', 'GET', `user_groups/${unnamed[0]?.id}/members`);
      expect(status).toBe(400);
    });

    it('is refused for a user who is already a member, is not a member, or does not exist', async () => {
      const second = organisation.id('second');
      const id = await create({ name, members: [second] });
      const again = await organisation.ask('member', 'POST', `user_groups/${id}/members`, { add: [second] });
      expect([again.status, again.body.msg]).toEqual([400, expect.stringContaining('already a member')]);
      const owner = organisation.id('owner');
      const gone = await organisation.ask('member', 'POST', `user_groups/${id}/members`, { delete: [owner] });
      expect([gone.status, gone.body.msg]).toEqual([400, expect.stringContaining('no member')]);
      const unknown = await organisation.ask('member', 'GET', `user_groups/${id}/members/${outside}`);
      expect([unknown.status, unknown.body.code]).toEqual([400, 'BAD_REQUEST']);
    });

    it('is refused for guests, and for bots that deactivate a group', async () => {
      const id = await create({ name });
      for (const [who, method, path] of [
        ['guest', 'POST', 'user_groups/create'],
        ['guest', 'PATCH', `user_groups/${id}`],
        ['guest', 'POST', `user_groups/${id}/members`],
        ['guest', 'POST', `user_groups/${id}/subgroups`],
        ['guest', 'POST', `user_groups/${id}/deactivate`],
        ['guest', 'GET', `user_groups/${id}/members`],
        ['guest', 'GET', `user_groups/${id}/members/1`],
        ['guest', 'GET', `user_groups/${id}/subgroups`],
        ['bot', 'POST', `user_groups/${id}/deactivate`],
      ] as const) {
        const fields = { name: 'x', description: 'x', members: [], add: [1] };
        const { status, body } = await organisation.ask(who, method, path, method === 'GET' ? {} : fields);
        expect([who, path, status, body.code]).toEqual([who, path, 400, 'BAD_REQUEST']);
      }
    });
  });

  it('bots can read groups, and create and change their own groups', async () => {
    const own = { name: organisation.newName(), description: 'x', members: [organisation.id('bot')] };
    const { group_id: id } = await organisation.do('bot', 'POST', 'user_groups/create', own);
    await organisation.do('bot', 'PATCH', `user_groups/${id}`, { description: 'y' });
    await organisation.do('bot', 'POST', `user_groups/${id}/members`, { add: [organisation.id('second')] });
    const inner = await organisation.roleGroup('moderators');
    await organisation.do('bot', 'POST', `user_groups/${id}/subgroups`, { add: [inner] });
    const read = (path: string, fields = {}) =>
      organisation.do('bot', 'GET', `user_groups/${id}/${path}`, fields);
    expect((await read('members', { direct_member_only: true })).members).toEqual(
      [organisation.id('second'), organisation.id('bot')].sort((one, other) => one - other),
    );
    expect((await read('subgroups', { direct_subgroup_only: true })).subgroups).toEqual([inner]);
    expect((await read(`members/${organisation.id('second')}`)).is_user_group_member).toBe(true);
  });
});
