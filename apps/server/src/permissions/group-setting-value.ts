import { isDeepStrictEqual } from 'node:util';
import type { GroupId, UserId } from '@waxwing/protocol';
import { z } from 'zod';
import { ascendingIds } from './ascending-ids.js';
import { groupId, groupIdList, userIdList } from './id-lists.js';

/**
 * A permission's value: a group's id, or users and groups of its own. Where it is collapsed, those are no group's equal,
 * and ascend.
 */
export type GroupSettingValue =
  | GroupId
  | { readonly directMembers: readonly UserId[]; readonly directSubgroups: readonly GroupId[] };

/** A change of a permission as it was asked for. */
export interface SettingWish {
  readonly new: GroupSettingValue;
  /** What the value should be before; `undefined` where the requester does not mind. */
  readonly old: GroupSettingValue | undefined;
}

/** As it comes over the wire; not collapsed yet. */
const parts = z
  .object(
    { direct_members: userIdList, direct_subgroups: groupIdList },
    'must be a group id, or members and subgroups',
  )
  .transform(
    ({ direct_members, direct_subgroups }): GroupSettingValue => ({
      directMembers: direct_members,
      directSubgroups: direct_subgroups,
    }),
  );

/** A permission's value on the wire. */
export const groupSettingValueShape = z
  .union([groupId, parts], 'must be a group id, or members and subgroups')
  .meta({ schemaName: 'GroupSettingValue' });

/** What changes a permission on the wire: `{new, old}`, where `old` may be left out, or null as stock servers take it. */
export const settingWishShape = z
  .object({ new: groupSettingValueShape, old: groupSettingValueShape.nullish() }, 'must have new')
  .transform((wish): SettingWish => ({ new: wish.new, old: wish.old ?? undefined }))
  .meta({ schemaName: 'GroupSettingChange' });

/** A permission's value in an answer. */
export const groupSettingAnswer = z
  .union([
    z.number().int(),
    z.object({ direct_members: z.array(z.number().int()), direct_subgroups: z.array(z.number().int()) }),
  ])
  .meta({ schemaName: 'GroupSetting' });

/**
 * The one form of a value that means the same: a single group and no members is that group, nothing at all is
 * `nobodyId`, and the rest is in ascending order without repetition. A single member stays what it is.
 */
export function collapse(value: GroupSettingValue, nobodyId: GroupId): GroupSettingValue {
  if (typeof value === 'number') return value;
  const directMembers = ascendingIds(value.directMembers);
  const directSubgroups = ascendingIds(value.directSubgroups);
  if (directMembers.length > 0 || directSubgroups.length > 1) return { directMembers, directSubgroups };
  return directSubgroups[0] ?? nobodyId;
}

/** Whether two collapsed values are the same: a group's id never equals members and subgroups. */
export function sameValue(one: GroupSettingValue, other: GroupSettingValue): boolean {
  return isDeepStrictEqual(one, other);
}

/** The value as answers and events have it. */
export function writeValue(value: GroupSettingValue): z.input<typeof groupSettingAnswer> {
  if (typeof value === 'number') return value;
  return { direct_members: [...value.directMembers], direct_subgroups: [...value.directSubgroups] };
}

/** The groups that a value names. */
export function groupsIn(value: GroupSettingValue): readonly GroupId[] {
  return typeof value === 'number' ? [value] : value.directSubgroups;
}

/** The users that a value names. */
export function usersIn(value: GroupSettingValue): readonly UserId[] {
  return typeof value === 'number' ? [] : value.directMembers;
}
