import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import type { ServerTransaction } from '#server/tables.js';
import type { OrganisationUnderTest } from '../organisation-under-test.js';

/** The channel that all users are subscribed to, and the one with the members who act in tests. */
export interface LargeOrganisation {
  readonly largeId: number;
  readonly smallId: number;
  /** A group of all added members. */
  readonly largeGroupId: number;
}

/**
 * Adds members by SQL: all in one public channel, one group and the groups of their role, each with a conversation and a
 * group, and ten of them with a channel.
 */
export async function enlarge(
  organisation: OrganisationUnderTest,
  users: number,
  queues: number,
): Promise<LargeOrganisation> {
  const subscribed = async (name: string, who: readonly ('owner' | 'member' | 'second')[]) => {
    const principals = who.map((each) => organisation.id(each));
    const subscriptions = [{ name }];
    await organisation.do('owner', 'POST', 'users/me/subscriptions', { subscriptions, principals });
    return Number((await organisation.do('owner', 'GET', 'get_stream_id', { stream: name })).stream_id);
  };
  const largeId = await subscribed('large', ['owner', 'member']);
  const smallId = await subscribed('small', ['owner', 'member']);
  const { database } = organisation.server.server;
  await database.write((transaction) =>
    addRows(transaction, { users, queues, largeId }, organisation.server.now),
  );
  // Updates the planner's statistics after the tables have grown.
  if (database.kind === 'postgres') await sql`analyze`.execute(database.db);
  const largeGroupId = (await organisation.groups())['many 0']?.id ?? 0;
  return { largeId, smallId, largeGroupId };
}

interface Size {
  readonly users: number;
  readonly queues: number;
  readonly largeId: number;
}

async function addRows({ db }: ServerTransaction, { users, queues, largeId }: Size, now: number) {
  const numbers = Array.from({ length: users }, (_, number) => ({ number }));
  const many = rowsAsTable(db, 'v', { number: 'integer' }, numbers);
  const added = sql`email_lower like 'many%@example.com'`;
  await sql`
    insert into users (email, email_lower, full_name, role, is_bot, api_key_hash, is_active, created_at)
    select 'many' || v.number || '@example.com', 'many' || v.number || '@example.com', 'Many ' || v.number,
      case when v.number % 20 = 0 then 600 else 400 end, 0, 'none', 1, cast(${now} as bigint)
    from ${many}`.execute(db);
  await sql`
    insert into subscriptions (channel_id, user_id, is_active, color, is_muted, pin_to_top)
    select cast(${largeId} as bigint), id, 1, '#76ce90', 0, 0 from users where ${added}`.execute(db);
  await sql`
    insert into user_group_members (group_id, user_id)
    select user_groups.id, users.id from users join user_groups
      on user_groups.name = case users.role when 600 then 'role:everyone' else 'role:members' end
    where ${added}`.execute(db);
  await sql`
    insert into user_groups (name, name_lower, description, is_system, is_active, created_at)
    select 'many ' || v.number, 'many ' || v.number, '', 0, 1, 0 from ${many}`.execute(db);
  await sql`
    insert into user_group_members (group_id, user_id)
    select user_groups.id, users.id from users join user_groups on user_groups.name = 'many 0'
    where ${added}`.execute(db);
  await sql`
    insert into channels (name, name_lower, description, rendered_description, is_private, is_web_public,
      is_history_public, is_default, is_archived, created_at, topics_policy)
    select 'many ' || v.number, 'many ' || v.number, '', '', 0, 0, 1, 0, 0, 0, 'inherit'
    from ${many} where v.number % 10 = 0`.execute(db);
  await sql`
    insert into permissions (level, owner_id, name, group_id)
    select 'group', id, 'can_manage_group', id from user_groups where name like 'many %'`.execute(db);
  await sql`insert into conversations (participants) select '1,' || id from users where ${added}`.execute(db);
  await sql`
    insert into event_queues (queue_id, user_id, event_types, last_event_id, acknowledged_event_id, last_used_at)
    select 'many' || id, id, '["typing"]', -1, -1, cast(${now} as bigint)
    from users where ${added} order by id limit ${queues}`.execute(db);
}
