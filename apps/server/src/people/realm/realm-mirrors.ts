import type { JsonObject } from '@waxwing/protocol';
import { z } from 'zod';
import type { GroupSettingValue } from '../permissions/group-setting-value.js';
import type { RoleGroupName } from '../permissions/role-groups.js';
import type { RealmSettingValues } from './realm-settings.js';

/** The settings that legacy fields are derived from. */
export interface MirroredValues
  extends Pick<RealmSettingValues, 'topics_policy' | 'message_edit_history_visibility_policy'> {
  readonly can_mention_many_users_group: GroupSettingValue;
}

/** Legacy integers for the permission to mention many users. Owners map to administrators. */
const mentionPolicies: Partial<Record<RoleGroupName, number>> = {
  'role:everyone': 1,
  'role:members': 2,
  'role:fullmembers': 3,
  'role:owners': 5,
  'role:administrators': 5,
  'role:nobody': 6,
  'role:moderators': 7,
};
/**
 * The legacy integer for values that have no equivalent. It means everyone, so that clients never hide the feature from
 * users who have the permission.
 */
const widestMentionPolicy = 1;

/** Legacy settings in the register response, without their `realm_` prefix. Stock clients still read them. */
export const mirrorShapes = {
  mandatory_topics: z.boolean(),
  allow_edit_history: z.boolean(),
  wildcard_mention_policy: z.number().int(),
};

/** Returns the legacy fields that are derived from these settings. Omits the legacy fields of omitted settings. */
export function mirrorsOf(
  values: Partial<MirroredValues>,
  roleGroups: ReadonlyMap<RoleGroupName, number>,
): JsonObject {
  const { topics_policy, message_edit_history_visibility_policy, can_mention_many_users_group } = values;
  return {
    ...(topics_policy === undefined ? {} : { mandatory_topics: topics_policy === 'disable_empty_topic' }),
    ...(message_edit_history_visibility_policy === undefined
      ? {}
      : { allow_edit_history: message_edit_history_visibility_policy !== 'none' }),
    ...(can_mention_many_users_group === undefined
      ? {}
      : { wildcard_mention_policy: mentionPolicy(can_mention_many_users_group, roleGroups) }),
  };
}

function mentionPolicy(value: GroupSettingValue, roleGroups: ReadonlyMap<RoleGroupName, number>): number {
  const [name] = [...roleGroups].find(([, id]) => id === value) ?? [];
  return (name && mentionPolicies[name]) ?? widestMentionPolicy;
}
