import { isPostgres } from '@waxwing/storage';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { ServerTables, ServerTransaction } from '#server/tables.js';
import { channelId } from '../../../support/ids.js';
import type { OrganisationUnderTest } from '../organisation-under-test.js';

/** Numbers of rows to add. The operations of a test do not touch these rows. */
export interface Size {
  /** Users who are all subscribed to one channel and members of one group. */
  readonly users: number;
  readonly groups: number;
  /** Channels without subscribers. Half of them are private, and all members may join them. */
  readonly channels: number;
  /** Messages in the channel that operations send to. Half of them are in the topic that operations send to. */
  readonly messages: number;
  /** Copies of one message in the channel of all users. */
  readonly copies: number;
  /** Event queues of the added users for events that no operation publishes. */
  readonly queues: number;
}

/** The channel that all users are subscribed to, and the channel of the members who act in tests. */
export interface LargeOrganisation {
  readonly largeId: number;
  readonly smallId: number;
  /** A group of all added members. */
  readonly largeGroupId: number;
  /** The member's message in the large channel, which has `Size.copies` copies. */
  readonly largeMessageId: number;
}

/** Adds rows by SQL, because requests would take hours. */
export async function enlarge(organisation: OrganisationUnderTest, size: Size): Promise<LargeOrganisation> {
  const subscribed = async (name: string, who: readonly ('owner' | 'member' | 'second')[]) => {
    const principals = who.map((each) => organisation.id(each));
    const subscriptions = [{ name }];
    await organisation.do('owner', 'POST', 'users/me/subscriptions', { subscriptions, principals });
    return Number((await organisation.do('owner', 'GET', 'get_stream_id', { stream: name })).stream_id);
  };
  const largeId = await subscribed('large', ['owner', 'member']);
  const smallId = await subscribed('small', ['owner', 'member']);
  const { database } = organisation.server.server;
  const { now } = organisation.server;
  const context = { now, largeId, smallId, memberId: organisation.id('member') };
  await database.write(async (transaction) => {
    // Checking the foreign keys of each row would take most of the time.
    if (database.kind === 'postgres')
      await sql`set local session_replication_role = replica`.execute(transaction.db);
    await addUsers(transaction, size, largeId);
    await addGroups(transaction, size);
    await addChannels(transaction, size);
    await addMessages(transaction, size, context);
    await addQueues(transaction, size, now);
  });
  // Updates the planner's statistics after the tables have grown.
  if (database.kind === 'postgres') await sql`analyze`.execute(database.db);
  const largeGroupId = (await organisation.groups())['many 1']?.id ?? 0;
  const { id: largeMessageId } = await database.db
    .selectFrom('messages')
    .select('id')
    .where('channel_id', '=', channelId(largeId))
    .executeTakeFirstOrThrow();
  return { largeId, smallId, largeGroupId, largeMessageId };
}

const added = sql`email_lower like 'many%@example.com'`;

/** A table `v` of the numbers from 1 to `count`. */
function numbers(db: Kysely<ServerTables>, count: number): RawBuilder<unknown> {
  if (isPostgres(db)) return sql`generate_series(1, cast(${count} as integer)) as v (number)`;
  return sql`(
    with recursive counted (number) as (select 1 union all select number + 1 from counted where number < ${count})
    select number from counted
  ) as v`;
}

async function addUsers({ db }: ServerTransaction, { users }: Size, largeId: number) {
  await sql`
    insert into users (email, email_lower, full_name, role, is_bot, api_key_hash, is_active, created_at)
    select 'many' || v.number || '@example.com', 'many' || v.number || '@example.com', 'Many ' || v.number,
      case when v.number % 20 = 0 then 600 else 400 end, 0, 'none', 1, 0
    from ${numbers(db, users)}`.execute(db);
  await sql`
    insert into subscriptions (channel_id, user_id, is_active, color, is_muted, pin_to_top)
    select cast(${largeId} as bigint), id, 1, '#76ce90', 0, 0 from users where ${added}`.execute(db);
  await sql`insert into conversations (participants) select '1,' || id from users where ${added}`.execute(db);
}

async function addGroups({ db }: ServerTransaction, { groups }: Size) {
  await sql`
    insert into user_groups (name, name_lower, description, is_system, is_active, created_at)
    select 'many ' || v.number, 'many ' || v.number, '', 0, 1, 0 from ${numbers(db, groups)}`.execute(db);
  await sql`
    insert into user_group_members (group_id, user_id)
    select user_groups.id, users.id from users join user_groups
      on user_groups.name = case users.role when 600 then 'role:everyone' else 'role:members' end
    where ${added}`.execute(db);
  await sql`
    insert into user_group_members (group_id, user_id)
    select user_groups.id, users.id from users join user_groups on user_groups.name = 'many 1'
    where ${added}`.execute(db);
  await sql`
    insert into permissions (level, owner_id, name, group_id)
    select 'group', id, 'can_manage_group', id from user_groups where name like 'many %'`.execute(db);
}

async function addChannels({ db }: ServerTransaction, { channels }: Size) {
  await sql`
    insert into channels (name, name_lower, description, rendered_description, is_private, is_web_public,
      is_history_public, is_default, is_archived, created_at, topics_policy)
    select 'many ' || v.number, 'many ' || v.number, '', '', v.number % 2, 0, 1, 0, 0, 0, 'inherit'
    from ${numbers(db, channels)}`.execute(db);
  await sql`
    insert into permissions (level, owner_id, name, group_id)
    select 'channel', channels.id, 'can_subscribe_group', user_groups.id
    from channels join user_groups on user_groups.name = 'role:members' where channels.name like 'many %'`.execute(
    db,
  );
}

interface Context {
  readonly now: number;
  readonly largeId: number;
  readonly smallId: number;
  readonly memberId: number;
}

async function addMessages({ db }: ServerTransaction, { messages, copies }: Size, { now, ...ids }: Context) {
  const add = (id: number, topic: RawBuilder<unknown>, count: number) =>
    sql`
      insert into messages (sender_id, channel_id, topic, topic_lower, content, rendered_content, sent_at, client,
        has_link, has_image, has_attachment)
      select cast(${ids.memberId} as bigint), cast(${id} as bigint), ${topic}, ${topic}, 'hello', '<p>hello</p>',
        cast(${now} as bigint), 'test', 0, 0, 0
      from ${numbers(db, count)}`.execute(db);
  await add(ids.smallId, sql`case when v.number % 2 = 0 then 'one' else 'many ' || v.number end`, messages);
  await add(ids.largeId, sql`'one'`, 1);
  await sql`
    insert into user_messages (user_id, message_id, flags)
    select sender_id, id, 1 from messages where channel_id = ${ids.smallId}`.execute(db);
  await sql`
    insert into user_messages (user_id, message_id, flags)
    select users.id, messages.id, 0
    from users join messages on messages.channel_id = ${ids.largeId}
    where ${added} order by users.id limit ${copies}`.execute(db);
  await sql`
    update channels set last_message_at = cast(${now} as bigint),
      first_message_id = (select min(id) from messages where messages.channel_id = channels.id)
    where id in (${ids.largeId}, ${ids.smallId})`.execute(db);
}

async function addQueues({ db }: ServerTransaction, { queues }: Size, now: number) {
  await sql`
    insert into event_queues (queue_id, user_id, event_types, last_event_id, acknowledged_event_id, last_used_at)
    select 'many' || id, id, '["typing"]', -1, -1, cast(${now} as bigint)
    from users where ${added} order by id limit ${queues}`.execute(db);
}
