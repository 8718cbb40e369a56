import { describe, expect, it } from 'vitest';
import type { GroupFacts } from '#server/people/groups/group-facts.js';
import type { Group } from '#server/people/groups/group-record.js';
import { checkedName } from '#server/people/groups/group-rules.js';
import { type GroupCreationRequest, planGroupCreation } from '#server/people/groups/plan-group-creation.js';
import { type GroupUpdateRequest, planGroupUpdate } from '#server/people/groups/plan-group-update.js';
import { type MemberUpdateRequest, planMemberUpdate } from '#server/people/groups/plan-member-update.js';
import { permissionNames } from '#server/people/permissions/permission-settings.js';
import { roles } from '#server/platform/authentication/roles.js';
import { groupId, userId } from '../../../support/ids.js';

const [me, other, absent, gone] = [userId(1), userId(2), userId(3), userId(4)];
const [nobodyId, cooks, inner] = [groupId(90), groupId(10), groupId(11)];
const [outer, free, ended] = [groupId(12), groupId(13), groupId(14)];

const permissions = Object.fromEntries(permissionNames('group').map((name) => [name, nobodyId]));

const group: Group = {
  id: cooks,
  name: 'cooks',
  description: 'who cook',
  isSystem: false,
  isActive: true,
  creatorId: other,
  createdAt: 0,
  subgroupIds: [inner],
  permissions: permissions as unknown as Group['permissions'],
};

type Held = Parameters<GroupFacts['held']['has']>[0];

function factsOf(fields: Partial<Omit<GroupFacts, 'held'>> = {}, held: readonly Held[] = []): GroupFacts {
  const named = (isActive: boolean) => ({ name: 'some', isSystem: false, isActive });
  return {
    actor: { id: me, role: roles.member },
    nobodyId,
    mayCreateGroups: true,
    mayManageAllGroups: false,
    group,
    memberIds: new Set([other]),
    held: new Set(held),
    known: {
      users: new Map([
        [me, { isActive: true }],
        [other, { isActive: true }],
        [gone, { isActive: false }],
      ]),
      groups: new Map([
        ...[cooks, inner, outer, free].map((id) => [id, named(true)] as const),
        [ended, named(false)],
      ]),
    },
    supergroupIds: new Set([cooks, outer]),
    isNameTaken: false,
    ...fields,
  };
}

function said(plan: () => unknown): string {
  try {
    plan();
    return 'done';
  } catch (error) {
    return (error as Error).message;
  }
}

const insufficient = 'Insufficient permission';

describe('the members of a group', () => {
  const plan = (facts: GroupFacts, wish: Partial<MemberUpdateRequest>) =>
    planMemberUpdate(facts, { add: [], remove: [], addSubgroups: [], removeSubgroups: [], ...wish });
  const outcome = (facts: GroupFacts, wish: Partial<MemberUpdateRequest>) => said(() => plan(facts, wish));
  const withMe = { memberIds: new Set([me, other]) };
  const manager = factsOf({}, ['can_manage_group']);

  it('can be added by users with the right to manage the group, to manage all groups, or to add members', () => {
    const add = [me];
    expect(outcome(factsOf({ mayManageAllGroups: true }), { add })).toBe('done');
    for (const held of ['can_manage_group', 'can_add_members_group'] as const)
      expect(outcome(factsOf({}, [held]), { add })).toBe('done');
    for (const held of ['can_leave_group', 'can_remove_members_group', 'can_mention_group'] as const)
      expect(outcome(factsOf({}, [held]), { add })).toBe(insufficient);
    expect(outcome(factsOf(), { add })).toBe(insufficient);
  });

  it('can join with the join permission, but cannot add other users', () => {
    const joiner = factsOf({ memberIds: new Set() }, ['can_join_group']);
    expect(outcome(joiner, { add: [me] })).toBe('done');
    expect(outcome(joiner, { add: [other] })).toBe(insufficient);
    expect(outcome(joiner, { add: [me, other] })).toBe(insufficient);
  });

  it('can be removed by users with the right to manage the group, to manage all groups, or to remove members', () => {
    const remove = [other];
    expect(outcome(factsOf({ mayManageAllGroups: true }), { remove })).toBe('done');
    for (const held of ['can_manage_group', 'can_remove_members_group'] as const)
      expect(outcome(factsOf({}, [held]), { remove })).toBe('done');
    for (const held of ['can_join_group', 'can_add_members_group', 'can_mention_group'] as const)
      expect(outcome(factsOf({}, [held]), { remove })).toBe(insufficient);
    expect(outcome(factsOf(), { remove })).toBe(insufficient);
  });

  it('can leave with the leave permission, but cannot remove other users', () => {
    const leaver = factsOf(withMe, ['can_leave_group']);
    expect(outcome(factsOf(withMe, ['can_join_group']), { remove: [me] })).toBe(insufficient);
    expect(outcome(leaver, { remove: [me] })).toBe('done');
    expect(outcome(leaver, { remove: [other] })).toBe(insufficient);
    expect(outcome(leaver, { remove: [me, other] })).toBe(insufficient);
  });

  it('can stay unchanged in an empty request', () => {
    expect(outcome(factsOf(), {})).toBe('done');
  });

  it('can include subgroups, which only users who can manage the group or all groups can change', () => {
    const less = factsOf({}, ['can_add_members_group', 'can_remove_members_group', 'can_join_group']);
    for (const wish of [{ addSubgroups: [free] }, { removeSubgroups: [inner] }]) {
      expect(outcome(less, wish)).toBe(insufficient);
      expect(outcome(manager, wish)).toBe('done');
      expect(outcome(factsOf({ mayManageAllGroups: true }), wish)).toBe('done');
    }
    // Adding and removing together requires the same permission as either of them.
    expect(outcome(less, { addSubgroups: [free], removeSubgroups: [inner] })).toBe(insufficient);
  });

  it('must exist, be active and not be members yet to be added', () => {
    expect(outcome(manager, { add: [absent] })).toBe('Invalid user ID: 3');
    expect(outcome(manager, { add: [gone] })).toBe('User is deactivated: 4');
    expect(outcome(manager, { add: [other] })).toBe('User 2 is already a member of this group');
    expect(outcome(manager, { addSubgroups: [groupId(99)] })).toBe('Invalid user group ID: 99');
    expect(outcome(manager, { addSubgroups: [ended] })).toBe('User group is deactivated: 14');
    expect(outcome(manager, { addSubgroups: [inner] })).toBe(
      'User group 11 is already a subgroup of this group.',
    );
  });

  it('must not include a group that contains this group', () => {
    for (const id of [cooks, outer])
      expect(outcome(manager, { addSubgroups: [id] })).toBe(
        'User group 10 is already a subgroup of one of the passed subgroups.',
      );
  });

  it('must be in the group to be removed', () => {
    expect(outcome(manager, { remove: [me] })).toBe("There is no member '1' in this user group");
    expect(outcome(manager, { removeSubgroups: [free] })).toBe(
      'User group 13 is not a subgroup of this group.',
    );
  });

  it('can change in user-created groups only', () => {
    const all = { mayManageAllGroups: true };
    expect(outcome(factsOf({ ...all, group: undefined }), { add: [me] })).toBe('Invalid user group');
    expect(outcome(factsOf({ ...all, group: { ...group, isSystem: true } }), { add: [me] })).toBe(
      insufficient,
    );
    expect(outcome(factsOf({ ...all, group: { ...group, isActive: false } }), { add: [me] })).toBe('done');
  });

  it('are planned once each, in ascending order', () => {
    const facts = factsOf({ memberIds: new Set(), group: { ...group, subgroupIds: [] } }, [
      'can_manage_group',
    ]);
    expect(plan(facts, { add: [other, me, other], addSubgroups: [free, inner] })).toEqual({
      groupId: cooks,
      addedMembers: [me, other],
      removedMembers: [],
      addedSubgroups: [inner, free],
      removedSubgroups: [],
    });
  });
});

describe('a change of a group', () => {
  const wishOf = (wish: Partial<GroupUpdateRequest>): GroupUpdateRequest => ({
    name: undefined,
    description: undefined,
    deactivated: undefined,
    permissions: {},
    ...wish,
  });
  const manager = (fields: Partial<GroupFacts> = {}) => factsOf(fields, ['can_manage_group']);
  const plan = (facts: GroupFacts, wish: Partial<GroupUpdateRequest>) => planGroupUpdate(facts, wishOf(wish));
  const outcome = (facts: GroupFacts, wish: Partial<GroupUpdateRequest>) => said(() => plan(facts, wish));
  const nothing = { groupId: cooks, permissions: [] };

  it('requires the right to manage the group or all groups, even if nothing changes', () => {
    expect(outcome(manager(), {})).toBe('done');
    expect(outcome(factsOf({ mayManageAllGroups: true }), {})).toBe('done');
    expect(outcome(factsOf({}, ['can_add_members_group', 'can_remove_members_group']), {})).toBe(
      insufficient,
    );
    expect(outcome(manager({ group: undefined }), {})).toBe('Invalid user group');
    expect(outcome(manager({ group: { ...group, isSystem: true } }), {})).toBe(insufficient);
  });

  it('contains only fields that change', () => {
    expect(plan(manager(), {})).toStrictEqual(nothing);
    expect(plan(manager(), { name: 'cooks', description: 'who cook' })).toStrictEqual(nothing);
    expect(plan(manager(), { name: ' cooks ' })).toStrictEqual(nothing);
    expect(plan(manager(), { name: ' bakers ', description: '' })).toStrictEqual({
      ...nothing,
      name: 'bakers',
      description: '',
    });
  });

  it('cannot take another group’s name, but can keep an old name that is no longer valid', () => {
    expect(outcome(manager({ isNameTaken: true }), { name: 'bakers' })).toContain("'bakers' already exists");
    expect(outcome(manager({ isNameTaken: true }), { description: 'x' })).toBe('done');
    const old = { group: { ...group, name: '@cooks' } };
    expect(plan(manager(old), { name: '@cooks' })).toStrictEqual(nothing);
    expect(outcome(manager(old), { name: '@bakers' })).toContain("cannot start with '@'");
  });

  it('can reactivate a group, but not deactivate it', () => {
    const ended = { group: { ...group, isActive: false } };
    expect(plan(manager(ended), { deactivated: false })).toStrictEqual({ ...nothing, isActive: true });
    expect(plan(manager(ended), {})).toStrictEqual(nothing);
    expect(plan(manager(), { deactivated: false })).toStrictEqual(nothing);
    expect(outcome(manager(), { deactivated: true })).toContain('/deactivate');
  });

  it('contains only permissions that change', () => {
    const wish = { new: free, old: undefined };
    expect(
      plan(manager(), { permissions: { can_join_group: wish, can_leave_group: undefined } }),
    ).toStrictEqual({
      groupId: cooks,
      permissions: [{ name: 'can_join_group', value: free }],
    });
    const same = { new: nobodyId, old: undefined };
    expect(plan(manager(), { permissions: { can_join_group: same } })).toStrictEqual(nothing);
  });
});

describe('a new group', () => {
  const wish: GroupCreationRequest = {
    name: ' cooks ',
    description: 'who cook',
    memberIds: [other, me, other],
    subgroupIds: [outer, inner],
    permissions: {},
  };
  const outcome = (fields: Partial<GroupFacts>, changed: Partial<GroupCreationRequest> = {}) =>
    said(() => planGroupCreation(factsOf(fields), { ...wish, ...changed }));

  it('lets its creator manage it and add members, and has defaults for other permissions', () => {
    const mine = { directMembers: [me], directSubgroups: [] };
    expect(planGroupCreation(factsOf(), wish)).toEqual({
      name: 'cooks',
      description: 'who cook',
      creatorId: me,
      memberIds: [me, other],
      subgroupIds: [inner, outer],
      permissions: [
        { name: 'can_add_members_group', value: mine },
        { name: 'can_manage_group', value: mine },
      ],
    });
  });

  it('has the requested permissions', () => {
    const { permissions } = planGroupCreation(factsOf(), {
      ...wish,
      permissions: { can_manage_group: free, can_join_group: free },
    });
    expect(permissions).toEqual([
      { name: 'can_add_members_group', value: { directMembers: [me], directSubgroups: [] } },
      { name: 'can_join_group', value: free },
      { name: 'can_manage_group', value: free },
    ]);
    expect(outcome({}, { permissions: { can_join_group: ended } })).toBe('User group is deactivated');
  });

  it('requires the permission to create groups, and an unused name', () => {
    expect(outcome({ mayCreateGroups: false, mayManageAllGroups: true })).toBe(insufficient);
    expect(outcome({ isNameTaken: true })).toContain("'cooks' already exists");
    expect(outcome({}, { name: 'role:cooks' })).toContain("cannot start with 'role:'");
  });

  it('must have active members and subgroups', () => {
    expect(outcome({}, { memberIds: [absent] })).toBe('Invalid user ID: 3');
    expect(outcome({}, { memberIds: [gone] })).toBe('User is deactivated: 4');
    expect(outcome({}, { subgroupIds: [groupId(99)] })).toBe('Invalid user group ID: 99');
    expect(outcome({}, { subgroupIds: [ended] })).toBe('User group is deactivated: 14');
  });
});

it('a group name has 1 to 100 characters and no reserved prefix', () => {
  expect(checkedName(` ${'😀'.repeat(100)} `)).toBe('😀'.repeat(100));
  expect(said(() => checkedName('x'.repeat(101)))).toContain('cannot exceed 100 characters');
  for (const empty of ['', ' \n '])
    expect(said(() => checkedName(empty))).toBe("User group name can't be empty!");
  for (const beginning of ['@', 'role:', 'user:', 'stream:', 'channel:'])
    expect(said(() => checkedName(`${beginning}x`))).toContain(`start with '${beginning}'`);
  expect(checkedName('x@role:')).toBe('x@role:');
});
