import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers, inPieces } from '@waxwing/storage';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import type { ServerTables } from '../../../tables.js';
import { messageFlags } from '../message-flags.js';
import { usersInChannel } from '../message-readers.js';
import { topicKey } from '../message-store.js';
import { pagesOfTopic } from './pages-of-topic.js';
import type { EditPlan, PlannedMove } from './plan-edit.js';

type Db = Transaction<ServerTables>;

/** Locks the messages that an edit changes and returns their ids in ascending order. */
export async function lockEdited(
  db: Db,
  { message, move }: Pick<EditPlan, 'message' | 'move'>,
  actor: PermissionHolder,
): Promise<MessageId[]> {
  if (move === undefined || move.propagateMode === 'change_one') return [message.id];
  const ids: MessageId[] = [];
  const afterId = move.propagateMode === 'change_later' ? message.id - 1 : 0;
  // A move to another channel moves only messages that the actor can read.
  const reader = move.isChannelChanged ? actor : undefined;
  for await (const page of pagesOfTopic(db, move.from, { afterId, reader, isLocking: true }))
    ids.push(...page.map(({ id }) => id));
  return ids;
}

/** Returns whether a user can read any message in a topic, not counting the messages in `but`. */
export async function readsAnyIn(
  db: Kysely<ServerTables>,
  location: PlannedMove['from'],
  actor: PermissionHolder,
  but: readonly MessageId[],
): Promise<boolean> {
  const excluded = new Set(but);
  for await (const page of pagesOfTopic(db, location, { reader: actor }))
    if (page.some(({ id }) => !excluded.has(id))) return true;
  return false;
}

/** Records the messages' previous state in the edit history, one row per changed message. */
export async function recordEdits(
  db: Db,
  { message, content, move }: EditPlan,
  {
    ids,
    editorId,
    now,
  }: { readonly ids: readonly MessageId[]; readonly editorId: UserId; readonly now: number },
): Promise<void> {
  const nothing = sql`cast(null as text)`;
  const isNew = sql`topic <> ${move?.to.topic ?? ''}`;
  const ofTarget = sql`id = ${content === undefined ? 0 : message.id}`;
  const topic = move?.isTopicChanged ? sql`case when ${isNew} then topic end` : nothing;
  const newTopic = move?.isTopicChanged
    ? sql`case when ${isNew} then cast(${move.to.topic} as text) end`
    : nothing;
  const channel = move?.isChannelChanged
    ? sql`channel_id, cast(${move.to.channelId} as bigint)`
    : sql`cast(null as bigint), cast(null as bigint)`;
  const isChanged = move?.isChannelChanged ? sql`1 = 1` : move?.isTopicChanged ? isNew : sql`1 = 0`;
  await inPieces(db, ids, async (piece) => {
    await sql`
    insert into message_edits (
      message_id, edited_at, editor_id, prev_content, prev_rendered_content, content_html_diff, prev_topic, topic,
      prev_channel_id, channel_id
    )
    select id, cast(${now} as bigint), cast(${editorId} as bigint), case when ${ofTarget} then content end,
      case when ${ofTarget} then rendered_content end,
      case when ${ofTarget} then cast(${content?.htmlDiff ?? null} as text) end, ${topic}, ${newTopic}, ${channel}
    from messages where id in ${amongNumbers(db, piece)} and (${ofTarget} or ${isChanged})
    order by id`.execute(db);
  });
}

/**
 * Updates the messages' channel and topic. Leaves `last_moved_at` unchanged if a topic is resolved within its channel,
 * or if only its letter case changes.
 */
export async function moveMessages(
  db: Db,
  { to, resolution, isTopicChanged, isChannelChanged, isRespelling }: PlannedMove,
  ids: readonly MessageId[],
  now: number,
): Promise<void> {
  const isCounted = isChannelChanged || (resolution === undefined && !isRespelling);
  // Sets only columns that change: SQLite rewrites every index on a column that is set, including the search index.
  const changed = {
    ...(isChannelChanged ? { channel_id: to.channelId } : {}),
    ...(isTopicChanged ? { topic: to.topic, topic_lower: topicKey(to.topic) } : {}),
    ...(isCounted ? { last_moved_at: now } : {}),
  };
  await inPieces(db, ids, async (piece) => {
    await db.updateTable('messages').set(changed).where('id', 'in', amongNumbers(db, piece)).execute();
  });
}

/**
 * Updates users' copies after a move to another channel: deletes the copies of users who are not subscribed to the new
 * channel. If the new channel's history is protected, gives each subscriber a copy, so that they can read the moved
 * messages.
 */
export async function moveCopies(
  db: Db,
  channel: { readonly id: ChannelId; readonly isHistoryPublic: boolean },
  ids: readonly MessageId[],
): Promise<void> {
  await inPieces(db, ids, async (piece) => {
    await db
      .deleteFrom('user_messages')
      .where('message_id', 'in', amongNumbers(db, piece))
      .where('user_id', 'not in', usersInChannel(db, channel.id))
      .execute();
    if (channel.isHistoryPublic) return;
    await sql`
      insert into user_messages (user_id, message_id, flags)
      select subscriptions.user_id, messages.id, ${sql.lit(messageFlags.read)}
      from messages join subscriptions on subscriptions.channel_id = messages.channel_id
      where messages.id in ${amongNumbers(db, piece)} and subscriptions.is_active = 1
      on conflict do nothing`.execute(db);
  });
}
