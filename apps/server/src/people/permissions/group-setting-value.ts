import { isDeepStrictEqual } from 'node:util';
import type { GroupId, UserId } from '@waxwing/protocol';
import { z } from 'zod';
import { ascendingIds } from './ascending-ids.js';
import { groupId, groupIdList, userIdList } from './id-lists.js';

/**
 * A permission's value: a group id, or an anonymous set of users and groups. In a collapsed value ({@link collapse}),
 * a set is not equivalent to a single group, and its ids are in ascending order.
 */
export type GroupSettingValue =
  | GroupId
  | { readonly directMembers: readonly UserId[]; readonly directSubgroups: readonly GroupId[] };

/** A requested change to a permission. */
export interface SettingRequest {
  readonly new: GroupSettingValue;
  /** The value that the client expects to be current; `undefined` skips the check. */
  readonly old: GroupSettingValue | undefined;
}

/** The wire format, before {@link collapse}. */
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

/** A permission's value on the wire (docs/chat-api.md, "Group-setting value"). */
export const groupSettingValueShape = z
  .union([groupId, parts], 'must be a group id, or members and subgroups')
  .meta({ schemaName: 'GroupSettingValue' });

/** A change to a permission on the wire: `{new, old}`. `old` is optional and may be null, as on stock servers. */
export const settingRequestShape = z
  .object({ new: groupSettingValueShape, old: groupSettingValueShape.nullish() }, 'must have new')
  .transform((requested): SettingRequest => ({ new: requested.new, old: requested.old ?? undefined }))
  .meta({ schemaName: 'GroupSettingChange' });

/** A permission's value in a response. */
export const groupSettingAnswer = z
  .union([
    z.number().int(),
    z.object({ direct_members: z.array(z.number().int()), direct_subgroups: z.array(z.number().int()) }),
  ])
  .meta({ schemaName: 'GroupSetting' });

/**
 * Returns the canonical form of a value: one group without members becomes that group's id, an empty value becomes
 * `nobodyId`, and other ids are sorted and deduplicated. A single member stays a set.
 */
export function collapse(value: GroupSettingValue, nobodyId: GroupId): GroupSettingValue {
  if (typeof value === 'number') return value;
  const directMembers = ascendingIds(value.directMembers);
  const directSubgroups = ascendingIds(value.directSubgroups);
  if (directMembers.length > 0 || directSubgroups.length > 1) return { directMembers, directSubgroups };
  return directSubgroups[0] ?? nobodyId;
}

/** Returns whether two collapsed values are equal. A group id never equals a set. */
export function sameValue(one: GroupSettingValue, other: GroupSettingValue): boolean {
  return isDeepStrictEqual(one, other);
}

/** Converts a value to its wire format. */
export function writeValue(value: GroupSettingValue): z.input<typeof groupSettingAnswer> {
  if (typeof value === 'number') return value;
  return { direct_members: [...value.directMembers], direct_subgroups: [...value.directSubgroups] };
}

export function groupsIn(value: GroupSettingValue): readonly GroupId[] {
  return typeof value === 'number' ? [value] : value.directSubgroups;
}

export function usersIn(value: GroupSettingValue): readonly UserId[] {
  return typeof value === 'number' ? [] : value.directMembers;
}
