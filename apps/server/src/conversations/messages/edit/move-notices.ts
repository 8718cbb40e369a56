import type { MessageId, UserId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import { readStored, storedSetting } from '../../../people/user-settings/user-setting-store.js';
import { systemBotId } from '../../../people/users/system-bots.js';
import type { ServerTables, ServerTransaction } from '../../../tables.js';
import { sendMessages } from '../insert-messages.js';
import { type Message, toMessage, topicKey } from '../message-store.js';
import { removeMessages } from '../removal/remove-messages.js';
import { renderContents } from '../render-content.js';
import { visibilityPolicies } from '../topics/visibility-policies.js';
import type { EditedChannels } from './edit-audience.js';
import type { EditContext } from './edit-context.js';
import {
  arrivalText,
  departureText,
  isResolutionText,
  type MovedAmount,
  type NamedTopic,
  type NamedUser,
  resolutionText,
} from './notice-texts.js';
import type { PlannedMove } from './plan-edit.js';

/** An applied move, with the facts that the notices in the old and new topics contain. */
export interface AppliedMove {
  readonly message: Message;
  readonly move: PlannedMove;
  readonly channels: EditedChannels;
  readonly actor: { readonly id: UserId };
  readonly now: number;
  readonly ids: readonly MessageId[];
  /** Whether the actor can no longer read any messages in the old topic. */
  readonly isWhole: boolean;
  /** Whether the actor could read messages in the new topic before the move. */
  readonly wasThere: boolean;
}

interface Notice {
  readonly location: PlannedMove['to'];
  readonly content: string;
  readonly readBy: readonly UserId[];
}

/** Time after a notice in which resolving or reopening the topic again deletes the notice and posts no other one. */
const undoMilliseconds = 60_000;

const { followed } = visibilityPolicies;

/**
 * Values of `resolved_topic_notice_auto_read_policy` (chat API). The value 2 means: read unless the user follows the
 * topic.
 */
const autoRead = { always: 1, never: 3 } as const;

const program = 'internal';

/** Posts the notices about a move in the new and old topics, as the Notification Bot. */
export async function postMoveNotices(
  transaction: ServerTransaction,
  context: EditContext,
  notified: AppliedMove,
): Promise<void> {
  const { db } = transaction;
  const by = await nameOf(db, notified.actor.id);
  const botId = await systemBotId(transaction, 'notification-bot');
  const notices = moveNotices(notified, by, context.realm.url);
  const isResolution = notified.move.notifiesResolution && notified.isWhole;
  if (isResolution && !(await retract(transaction, context, notified, botId))) {
    const { move, actor } = notified;
    const content = resolutionText(by, move.resolution ?? 'resolved');
    const readBy = [actor.id, ...(await readersOfNotice(db, move.to))];
    notices.unshift({ location: move.to, content, readBy });
  }
  const rendered = await renderContents(
    db,
    context,
    undefined,
    notices.map(({ content }) => content),
  );
  const messages = notices.flatMap(({ location, content, readBy }, index) => {
    const html = rendered[index];
    const destination = { kind: 'channel' as const, ...location };
    return html === undefined
      ? []
      : [{ senderId: botId, destination, content, rendered: html, client: program, readBy }];
  });
  await sendMessages(transaction, context, messages);
}

function moveNotices(notified: AppliedMove, by: NamedUser, realmUrl: string): Notice[] {
  const { move, channels, actor, ids, isWhole, wasThere, message } = notified;
  const from: NamedTopic = { ...move.from, channelName: channels.origin.name };
  const to: NamedTopic = { ...move.to, channelName: channels.target.name };
  const part: MovedAmount =
    ids.length === 1 ? { kind: 'one', messageId: message.id } : { kind: 'several', count: ids.length };
  const whole: MovedAmount = { kind: 'topic' };
  const readBy = [actor.id];
  const arrival = {
    location: move.to,
    content: arrivalText(from, to, by, isWhole && !wasThere ? whole : part, realmUrl),
    readBy,
  };
  const departure = { location: move.from, content: departureText(to, by, isWhole ? whole : part), readBy };
  const notifiesNewThread = move.notifiesNewThread || (move.notifiesPartialResolution && !isWhole);
  return [...(notifiesNewThread ? [arrival] : []), ...(move.notifiesOldThread ? [departure] : [])];
}

async function nameOf(db: Kysely<ServerTables>, id: UserId): Promise<NamedUser> {
  const row = await db.selectFrom('users').select('full_name').where('id', '=', id).executeTakeFirstOrThrow();
  return { id, fullName: row.full_name };
}

/**
 * Returns the subscribers whose copy of the notice is marked as read. Depending on their setting, it is marked always,
 * never, or unless they follow the topic.
 */
async function readersOfNotice(
  db: Kysely<ServerTables>,
  { channelId, topic }: PlannedMove['to'],
): Promise<UserId[]> {
  const rows = await db
    .selectFrom('subscriptions')
    .leftJoin('user_topics', (join) =>
      join
        .onRef('user_topics.user_id', '=', 'subscriptions.user_id')
        .on('user_topics.channel_id', '=', channelId)
        .on('user_topics.topic_lower', '=', topicKey(topic)),
    )
    .select(['subscriptions.user_id', 'user_topics.visibility_policy'])
    .select(storedSetting('resolved_topic_notice_auto_read_policy', 'subscriptions.user_id'))
    .where('subscriptions.channel_id', '=', channelId)
    .where('subscriptions.is_active', '=', 1)
    .execute();
  return rows
    .filter((row) => {
      const policy = readStored(row, 'resolved_topic_notice_auto_read_policy');
      return policy === autoRead.always || (policy !== autoRead.never && row.visibility_policy !== followed);
    })
    .map(({ user_id }) => user_id);
}

/**
 * Deletes the resolve or reopen notice if it is the topic's last message and at most a minute old, so that undoing a
 * mistake leaves no trace. Returns whether it deleted the notice.
 */
async function retract(
  transaction: ServerTransaction,
  context: EditContext,
  { move: { to }, channels, actor, now }: AppliedMove,
  botId: UserId,
): Promise<boolean> {
  const row = await transaction.db
    .selectFrom('messages')
    .selectAll()
    .where('channel_id', '=', to.channelId)
    .where('topic_lower', '=', topicKey(to.topic))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined || row.sender_id !== botId || !isResolutionText(row.content)) return false;
  if (now - row.sent_at > undoMilliseconds) return false;
  await removeMessages(transaction, context, {
    messages: [toMessage(row)],
    channel: channels.target,
    actorId: actor.id,
  });
  return true;
}
