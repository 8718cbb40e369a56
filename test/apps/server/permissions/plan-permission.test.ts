import { type GroupId, ProtocolError } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import type { GroupSettingValue } from '#server/people/permissions/group-setting-value.js';
import type { KnownReferences } from '#server/people/permissions/known-references.js';
import type { PermissionLevel, PermissionName } from '#server/people/permissions/permission-settings.js';
import {
  checkedPermission,
  namedIn,
  planPermission,
  requireKnown,
} from '#server/people/permissions/plan-permission.js';
import { groupId, userId } from '../../../support/ids.js';

const [me, other, gone, absent] = [userId(1), userId(2), userId(3), userId(4)];
const [nobodyId, everyone, internet] = [groupId(90), groupId(91), groupId(92)];
const [members, owners, cooks, ended] = [groupId(93), groupId(94), groupId(10), groupId(11)];

const role = (name: string) => ({ name: `role:${name}`, isSystem: true, isActive: true });
const known: KnownReferences = {
  users: new Map([
    [me, { isActive: true }],
    [other, { isActive: true }],
    [gone, { isActive: false }],
  ]),
  groups: new Map([
    [everyone, role('everyone')],
    [internet, role('internet')],
    [members, role('members')],
    [owners, role('owners')],
    [cooks, { name: 'cooks', isSystem: false, isActive: true }],
    [ended, { name: 'ended', isSystem: false, isActive: false }],
  ]),
};
const some = (directMembers: number[], directSubgroups: GroupId[]): GroupSettingValue => ({
  directMembers: directMembers.map(userId),
  directSubgroups,
});

function refusal(run: () => unknown): ProtocolError | undefined {
  try {
    run();
  } catch (error) {
    if (error instanceof ProtocolError) return error;
    throw error;
  }
  return undefined;
}

const check = (level: PermissionLevel, name: PermissionName, value: GroupSettingValue) =>
  checkedPermission({ level, name, nobodyId, known }, value);
const said = (level: PermissionLevel, name: PermissionName, value: GroupSettingValue) =>
  refusal(() => check(level, name, value))?.message ?? 'done';

describe('the value of a permission', () => {
  it('can be a role group that the permission allows, or a user-created group', () => {
    const upTo = (level: PermissionLevel, name: PermissionName) =>
      [nobodyId, cooks, owners, members, everyone, internet].map((id) => said(level, name, id) === 'done');
    expect(upTo('group', 'can_leave_group')).toEqual([true, true, true, true, true, false]);
    expect(upTo('group', 'can_join_group')).toEqual([true, true, true, true, false, false]);
    expect(upTo('realm', 'can_manage_all_groups')).toEqual([false, true, true, true, false, false]);
    expect(said('group', 'can_join_group', everyone)).toBe(
      "'can_join_group' setting cannot be set to 'role:everyone' group",
    );
    expect(said('realm', 'can_manage_all_groups', some([], []))).toBe(
      "'can_manage_all_groups' setting cannot be set to 'role:nobody' group",
    );
  });

  it('must be one of the listed role groups if the permission allows no other groups', () => {
    const name = 'can_create_web_public_channel_group';
    expect(said('realm', name, owners)).toBe('done');
    expect(said('realm', name, nobodyId)).toBe('done');
    expect(said('realm', name, members)).toContain("cannot be set to 'role:members'");
    expect(said('realm', name, some([], [owners]))).toBe('done');
    for (const value of [cooks, some([1], []), some([], [owners, members])])
      expect(refusal(() => check('realm', name, value))).toMatchObject({
        code: 'SYSTEM_GROUP_REQUIRED',
        fields: { setting_name: name },
      });
  });

  it('must name existing, active users and groups', () => {
    expect(said('group', 'can_join_group', groupId(99))).toBe('Invalid user group');
    expect(said('group', 'can_join_group', ended)).toBe('User group is deactivated');
    expect(said('group', 'can_join_group', some([absent], []))).toBe('Invalid user ID: 4');
    expect(said('group', 'can_join_group', some([gone], []))).toBe('User is deactivated: 3');
    expect(said('group', 'can_join_group', some([me], [groupId(99)]))).toBe('Invalid user group ID: 99');
    expect(said('group', 'can_join_group', some([me], [ended]))).toBe('User group is deactivated: 11');
  });

  it('is stored in canonical form', () => {
    expect(check('group', 'can_join_group', some([], [cooks]))).toBe(cooks);
    expect(check('group', 'can_join_group', some([], []))).toBe(nobodyId);
    expect(check('group', 'can_join_group', some([2, 1, 2], [cooks]))).toEqual(some([1, 2], [cooks]));
  });
});

describe('a change of a permission', () => {
  const plan = (current: GroupSettingValue, next: GroupSettingValue, old?: GroupSettingValue) =>
    planPermission({ level: 'group', name: 'can_join_group', current, nobodyId, known }, { new: next, old });

  it('is no change if the value means the same, even if that value is no longer valid', () => {
    expect(plan(cooks, some([], [cooks]))).toBeUndefined();
    expect(plan(nobodyId, some([], []))).toBeUndefined();
    expect(plan(ended, ended)).toBeUndefined();
    expect(plan(some([1, 2], []), some([2, 1], []))).toBeUndefined();
    expect(plan(nobodyId, cooks)).toBe(cooks);
  });

  it('is refused if the current value is not the expected value', () => {
    expect(plan(cooks, members, some([], [cooks]))).toBe(members);
    expect(plan(nobodyId, members, some([], []))).toBe(members);
    for (const next of [members, cooks])
      expect(refusal(() => plan(cooks, next, owners))).toMatchObject({
        code: 'EXPECTATION_MISMATCH',
        fields: { field_name: 'old' },
      });
  });
});

it('the users and groups that values name are found, and the first invalid one is reported', () => {
  expect(namedIn([cooks, some([1, 2], [members]), owners])).toEqual({
    userIds: [me, other],
    groupIds: [cooks, members, owners],
  });
  expect(
    refusal(() => requireKnown(known, { userIds: [me, gone, absent], groupIds: [groupId(99)] }))?.message,
  ).toBe('User is deactivated: 3');
  expect(refusal(() => requireKnown(known, { userIds: [me], groupIds: [cooks, everyone] }))).toBeUndefined();
});
