import type { GroupId, JsonObject } from '@waxwing/protocol';
import type { ServerTransaction } from '../../tables.js';
import type { PermissionLevel } from '../permissions/permission-settings.js';

/** The uses of a group: the groups that contain it, and the permissions whose value contains it. */
export interface GroupUses {
  /** Active groups that directly contain the group. */
  readonly supergroupIds: readonly GroupId[];
  readonly permissions: readonly {
    readonly level: PermissionLevel;
    readonly ownerId: number;
    readonly name: string;
  }[];
}

/** Reads the uses of a group, except in its own permissions. */
export async function readGroupUses({ db }: ServerTransaction, groupId: GroupId): Promise<GroupUses> {
  const supergroups = await db
    .selectFrom('user_group_subgroups as nested')
    .innerJoin('user_groups', 'user_groups.id', 'nested.group_id')
    .where('nested.subgroup_id', '=', groupId)
    .where('user_groups.name', 'is not', null)
    .where('user_groups.is_active', '=', 1)
    .select('user_groups.id')
    .orderBy('user_groups.id')
    .execute();
  const unnamed = db
    .selectFrom('user_group_subgroups as nested')
    .innerJoin('user_groups', 'user_groups.id', 'nested.group_id')
    .where('nested.subgroup_id', '=', groupId)
    .where('user_groups.name', 'is', null)
    .select('user_groups.id');
  const others = db
    .selectFrom('permissions')
    .where((is) => is.not(is.and([is('level', '=', 'group'), is('owner_id', '=', groupId)])))
    .select(['level', 'owner_id', 'name']);
  const permissions = await others
    .where('group_id', '=', groupId)
    // Uses a union, because with `or` PostgreSQL would read the permissions of all channels and groups.
    .union(others.where('group_id', 'in', unnamed))
    .orderBy('level')
    .orderBy('owner_id')
    .orderBy('name')
    .execute();
  return {
    supergroupIds: supergroups.map(({ id }) => id),
    permissions: permissions.map(({ level, owner_id: ownerId, name }) => ({ level, ownerId, name })),
  };
}

/** Returns the uses that prevent a group's deactivation, in the wire format. */
export function objectionsTo({ supergroupIds, permissions }: GroupUses): JsonObject[] {
  const byOwner = new Map<string, { readonly objection: JsonObject; readonly settings: string[] }>();
  for (const { level, ownerId, name } of permissions) {
    const key = `${level} ${ownerId}`;
    const place = byOwner.get(key) ?? { objection: ownerOf(level, ownerId), settings: [] };
    place.settings.push(name);
    byOwner.set(key, place);
  }
  return [
    ...(supergroupIds.length === 0 ? [] : [{ type: 'subgroup', supergroup_ids: supergroupIds }]),
    ...[...byOwner.values()].map(({ objection, settings }) => ({ ...objection, settings })),
  ];
}

function ownerOf(level: PermissionLevel, ownerId: number): JsonObject {
  if (level === 'realm') return { type: 'realm' };
  return level === 'channel'
    ? { type: 'channel', channel_id: ownerId }
    : { type: 'user_group', group_id: ownerId };
}
