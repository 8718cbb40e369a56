import type { GroupId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import { type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import { ascendingIds } from '../permissions/ascending-ids.js';
import { groupedBy } from '../permissions/grouped-by.js';
import { fullMembersGroup, roleGroups } from '../permissions/role-groups.js';
import type { GroupTables } from './group-tables.js';

/** Users who joined or left one group. */
export interface MembershipChange {
  readonly op: 'add_members' | 'remove_members';
  readonly groupId: GroupId;
  /** In ascending order. */
  readonly userIds: readonly UserId[];
}

export interface SettlingOptions {
  /** The users to check. Default: all users. */
  readonly userIds?: readonly UserId[];
  /** Days after which a member becomes a full member. */
  readonly waitingPeriodDays: number;
  /** Unix milliseconds. */
  readonly now: number;
}

const dayMilliseconds = 24 * 60 * 60_000;

/**
 * Updates role groups to match the users' roles and time since joining, in two statements. Returns the changes,
 * removals first. Idempotent. Call this after changing a role, adding a user, or setting the waiting period.
 */
export async function settleRoleGroups(
  db: Transaction<GroupTables>,
  { userIds, waitingPeriodDays, now }: SettlingOptions,
): Promise<MembershipChange[]> {
  if (userIds?.length === 0) return [];
  const belongs = belongsByRole(
    waitingPeriodDays === 0 ? Number.MAX_SAFE_INTEGER : now - waitingPeriodDays * dayMilliseconds,
  );
  const only = userIds === undefined ? sql`` : sql`and user_id in ${amongNumbers(db, userIds)}`;
  const left = await sql<MembershipRow>`
    delete from user_group_members
    where group_id in (select id from user_groups where ${isRoleGroup})
      and not exists (
        select 1 from users join user_groups on ${belongs}
        where users.id = user_group_members.user_id and user_groups.id = user_group_members.group_id)
      ${only}
    returning group_id, user_id`.execute(db);
  const joined = await sql<MembershipRow>`
    insert into user_group_members (group_id, user_id)
    select group_id, user_id
    from (select user_groups.id as group_id, users.id as user_id from users join user_groups on ${belongs}) as belonging
    where true ${only}
    on conflict do nothing
    returning group_id, user_id`.execute(db);
  return [...byGroup('remove_members', left.rows), ...byGroup('add_members', joined.rows)];
}

interface MembershipRow {
  readonly group_id: GroupId;
  readonly user_id: UserId;
}

/**
 * SQL condition on `user_groups`: the group is a role group. Compares names, because they have an index and there may
 * be very many groups.
 */
const isRoleGroup = sql<SqlBool>`user_groups.name_lower in (${sql.join(roleGroups.map(({ name }) => sql.lit(name)))})
  and user_groups.is_system = 1`;

/**
 * Returns an SQL condition that is true if the user's role makes the user a direct member of the role group.
 * Deactivated users stay members. System bots, recognized by their empty key hash, are not in any role group.
 */
function belongsByRole(fullMemberSince: number): RawBuilder<SqlBool> {
  const rules = roleGroups.flatMap(({ name, role }) =>
    role === undefined ? [] : [sql`when ${sql.lit(name)} then ${sql.lit(role)}`],
  );
  return sql<SqlBool>`${isRoleGroup} and users.api_key_hash <> '' and users.role = case user_groups.name ${sql.join(rules, sql` `)} end
    and (user_groups.name <> ${sql.lit(fullMembersGroup)} or users.created_at <= ${sql.lit(fullMemberSince)})`;
}

function byGroup(op: MembershipChange['op'], rows: readonly MembershipRow[]): MembershipChange[] {
  return [...groupedBy(rows, ({ group_id }) => group_id)]
    .sort(([a], [b]) => a - b)
    .map(([groupId, same]) => ({ op, groupId, userIds: ascendingIds(same.map(({ user_id }) => user_id)) }));
}
