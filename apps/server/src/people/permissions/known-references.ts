import type { GroupId, UserId } from '@waxwing/protocol';
import { amongNumbers, keepingRows } from '@waxwing/storage';
import type { ServerTransaction } from '../../tables.js';

/** The users and groups that a request refers to, with their state. Ids that are not in the maps do not exist. */
export interface KnownReferences {
  readonly users: ReadonlyMap<UserId, { readonly isActive: boolean }>;
  /** Includes only named groups. */
  readonly groups: ReadonlyMap<
    GroupId,
    { readonly name: string; readonly isSystem: boolean; readonly isActive: boolean }
  >;
}

export interface NamedReferences {
  readonly userIds: readonly UserId[];
  readonly groupIds: readonly GroupId[];
}

/**
 * Reads referenced users and groups, and takes a shared lock on them until the transaction ends. Locks in ascending
 * id order, as all code does, to prevent deadlocks.
 */
export async function readReferences(
  { db }: ServerTransaction,
  { userIds, groupIds }: NamedReferences,
): Promise<KnownReferences> {
  const users =
    userIds.length === 0
      ? []
      : await db
          .selectFrom('users')
          .select(['id', 'is_active'])
          .where('id', 'in', amongNumbers(db, userIds))
          .where('system_bot', 'is', null)
          .orderBy('id')
          .modifyEnd(keepingRows(db))
          .execute();
  const groups =
    groupIds.length === 0
      ? []
      : await db
          .selectFrom('user_groups')
          .select(['id', 'name', 'is_system', 'is_active'])
          .where('id', 'in', amongNumbers(db, groupIds))
          .orderBy('id')
          .modifyEnd(keepingRows(db))
          .execute();
  return {
    users: new Map(users.map(({ id, is_active }) => [id, { isActive: is_active === 1 }])),
    groups: new Map(
      groups.flatMap(({ id, name, is_system, is_active }) =>
        name === null ? [] : [[id, { name, isSystem: is_system === 1, isActive: is_active === 1 }]],
      ),
    ),
  };
}
