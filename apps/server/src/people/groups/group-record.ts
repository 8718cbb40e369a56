import type { GroupId, JsonObject, UserId } from '@waxwing/protocol';
import { z } from 'zod';
import {
  type GroupSettingValue,
  groupSettingAnswer,
  writeValue,
} from '../permissions/group-setting-value.js';
import { type groupPermissions, permissionNames } from '../permissions/permission-settings.js';
import type { PermissionValues } from '../permissions/permission-store.js';

/** A named group in its current state. */
export interface Group {
  readonly id: GroupId;
  readonly name: string;
  readonly description: string;
  readonly isSystem: boolean;
  readonly isActive: boolean;
  readonly creatorId: UserId | undefined;
  /** Unix milliseconds. */
  readonly createdAt: number | undefined;
  /** In ascending order. */
  readonly subgroupIds: readonly GroupId[];
  readonly permissions: PermissionValues<'group'>;
}

/** A group with its active direct members. The list can be very long. */
export interface ListedGroup extends Group {
  /** In ascending order. */
  readonly memberIds: readonly UserId[];
}

const permissionFields = Object.fromEntries(
  permissionNames('group').map((name) => [name, groupSettingAnswer]),
) as Record<keyof typeof groupPermissions, typeof groupSettingAnswer>;

/** A group in responses and events. */
export const groupRecord = z
  .object({
    id: z.number().int(),
    name: z.string(),
    description: z.string(),
    members: z.array(z.number().int()),
    direct_subgroup_ids: z.array(z.number().int()),
    is_system_group: z.boolean(),
    deactivated: z.boolean(),
    creator_id: z.number().int().nullable(),
    /** Unix seconds. */
    date_created: z.number().int().nullable(),
    ...permissionFields,
  })
  .meta({ schemaName: 'UserGroup' });

export type GroupRecord = z.input<typeof groupRecord> & JsonObject;

/** Converts a group to its wire format. */
export function writeGroup(group: ListedGroup): GroupRecord {
  return {
    id: group.id,
    name: group.name,
    description: group.description,
    members: [...group.memberIds],
    direct_subgroup_ids: [...group.subgroupIds],
    is_system_group: group.isSystem,
    deactivated: !group.isActive,
    creator_id: group.creatorId ?? null,
    date_created: group.createdAt === undefined ? null : Math.floor(group.createdAt / 1000),
    ...(Object.fromEntries(
      Object.entries<GroupSettingValue>(group.permissions).map(([name, value]) => [name, writeValue(value)]),
    ) as Record<keyof typeof groupPermissions, z.input<typeof groupSettingAnswer>>),
  };
}
