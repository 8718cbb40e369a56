import type { GroupId, UserId } from '@waxwing/protocol';
import type { ServerTransaction } from '../../tables.js';
import {
  type KnownReferences,
  type NamedReferences,
  readReferences,
} from '../permissions/known-references.js';
import { type groupPermissions, permissionNames } from '../permissions/permission-settings.js';
import {
  holdsPermissions,
  type PermissionHolder,
  type PermissionKey,
  roleGroupId,
  roleGroupIds,
} from '../permissions/permission-store.js';
import { wholeRealm } from '../permissions/permission-tables.js';
import type { Group } from './group-record.js';
import { directMembersAmong, findGroups } from './group-store.js';

/** The facts that the group rules need. The facts stay valid until the transaction ends. */
export interface GroupFacts {
  readonly actor: PermissionHolder;
  readonly nobodyId: GroupId;
  readonly mayCreateGroups: boolean;
  readonly mayManageAllGroups: boolean;
  /** `undefined` if no named group has this id. */
  readonly group: Group | undefined;
  /** The users in `FactsAsked.memberIds` who are active direct members of the group. */
  readonly memberIds: ReadonlySet<UserId>;
  /** The actor's permissions for the group. */
  readonly held: ReadonlySet<keyof typeof groupPermissions>;
  readonly known: KnownReferences;
  /** Ids of the groups that contain the group at any depth, and of the group itself. */
  readonly supergroupIds: ReadonlySet<GroupId>;
  /** Whether another group has the requested name. */
  readonly isNameTaken: boolean;
}

export interface FactsAsked extends NamedReferences {
  readonly actor: PermissionHolder;
  /** The group to change; absent when creating one. */
  readonly groupId?: GroupId;
  /** The users to add to the group or remove from it. */
  readonly memberIds?: readonly UserId[];
  /** The requested name. */
  readonly name?: string | undefined;
}

/** Reads the facts for a group change. The caller must hold the lock on groups (`lockGroups`). */
export async function readGroupFacts(
  transaction: ServerTransaction,
  { actor, groupId, memberIds = [], userIds, groupIds, name }: FactsAsked,
): Promise<GroupFacts> {
  const { db } = transaction;
  const names = groupId === undefined ? [] : permissionNames('group');
  const asked: PermissionKey[] = [
    { level: 'realm', ownerId: wholeRealm, name: 'can_create_groups' },
    { level: 'realm', ownerId: wholeRealm, name: 'can_manage_all_groups' },
    ...names.map((name) => ({ level: 'group' as const, ownerId: groupId ?? 0, name })),
  ];
  const [mayCreateGroups = false, mayManageAllGroups = false, ...held] = await holdsPermissions(
    db,
    actor,
    asked,
  );
  const [group] = groupId === undefined ? [] : await findGroups(db, [groupId]);
  return {
    actor,
    nobodyId: roleGroupId(await roleGroupIds(db), 'role:nobody'),
    mayCreateGroups,
    mayManageAllGroups,
    group,
    memberIds: groupId === undefined ? new Set() : await directMembersAmong(db, groupId, memberIds),
    held: new Set(names.filter((_, index) => held[index])),
    known: await readReferences(transaction, { userIds, groupIds }),
    supergroupIds: groupId === undefined ? new Set() : await readSupergroups(transaction, groupId),
    isNameTaken: name !== undefined && (await isTaken(transaction, name, groupId)),
  };
}

async function readSupergroups({ db }: ServerTransaction, groupId: GroupId): Promise<ReadonlySet<GroupId>> {
  const rows = await db
    .withRecursive('above(group_id)', (query) =>
      query
        .selectFrom('user_groups')
        .where('id', '=', groupId)
        .select('id as group_id')
        .union(
          query
            .selectFrom('above')
            .innerJoin('user_group_subgroups as nested', 'nested.subgroup_id', 'above.group_id')
            .select('nested.group_id'),
        ),
    )
    .selectFrom('above')
    .selectAll()
    .execute();
  return new Set(rows.map(({ group_id }) => group_id));
}

async function isTaken(
  { db }: ServerTransaction,
  name: string,
  groupId: GroupId | undefined,
): Promise<boolean> {
  const row = await db
    .selectFrom('user_groups')
    .select('id')
    .where('name_lower', '=', name.toLowerCase())
    .$if(groupId !== undefined, (query) => query.where('id', '<>', groupId as GroupId))
    .executeTakeFirst();
  return row !== undefined;
}
