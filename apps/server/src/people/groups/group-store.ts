import type { GroupId, UserId } from '@waxwing/protocol';
import { amongNumbers, ascendingNumbers } from '@waxwing/storage';
import type { Kysely, Selectable } from 'kysely';
import type { ServerTables } from '../../tables.js';
import { groupedBy } from '../permissions/grouped-by.js';
import { readPermissions } from '../permissions/permission-store.js';
import type { Group } from './group-record.js';

type Reader = Kysely<ServerTables>;
type NamedRow = Selectable<ServerTables['user_groups']> & { readonly name: string };

/** All named groups, ordered by id. A constant number of statements. */
export async function listGroups(
  db: Reader,
  { includesDeactivated }: { readonly includesDeactivated: boolean },
): Promise<Group[]> {
  const rows = await namedGroups(db)
    .$if(!includesDeactivated, (query) => query.where('is_active', '=', 1))
    .execute();
  return complete(db, rows as NamedRow[]);
}

/** The named groups with these ids. Omits unknown ids. */
export async function findGroups(db: Reader, ids: readonly GroupId[]): Promise<Group[]> {
  if (ids.length === 0) return [];
  const rows = await namedGroups(db).where('id', 'in', amongNumbers(db, ids)).execute();
  return complete(
    db,
    rows as NamedRow[],
    rows.map(({ id }) => id),
  );
}

function namedGroups(db: Reader) {
  return db.selectFrom('user_groups').selectAll().where('name', 'is not', null).orderBy('id');
}

async function complete(db: Reader, rows: readonly NamedRow[], only?: readonly GroupId[]): Promise<Group[]> {
  if (rows.length === 0) return [];
  const [members, subgroups, permissionsOf] = [
    await db
      .selectFrom('user_group_members as member')
      .innerJoin('users', 'users.id', 'member.user_id')
      .where('users.is_active', '=', 1)
      .$if(only !== undefined, (query) => query.where('member.group_id', 'in', amongNumbers(db, only ?? [])))
      .select(['member.group_id', ascendingNumbers(db, 'member.user_id').as('ids')])
      .groupBy('member.group_id')
      .execute(),
    await db
      .selectFrom('user_group_subgroups')
      .$if(only !== undefined, (query) => query.where('group_id', 'in', amongNumbers(db, only ?? [])))
      .select(['group_id', 'subgroup_id as id'])
      .orderBy('subgroup_id')
      .execute(),
    await readPermissions(db, 'group', only),
  ];
  const membersOf = new Map(members.map(({ group_id, ids }) => [group_id, JSON.parse(ids) as UserId[]]));
  const subgroupsOf = groupedBy(subgroups, ({ group_id }) => group_id);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    description: row.description,
    isSystem: row.is_system === 1,
    isActive: row.is_active === 1,
    creatorId: row.creator_id ?? undefined,
    createdAt: row.created_at ?? undefined,
    memberIds: membersOf.get(row.id) ?? [],
    subgroupIds: (subgroupsOf.get(row.id) ?? []).map(({ id }) => id),
    permissions: permissionsOf(row.id),
  }));
}
