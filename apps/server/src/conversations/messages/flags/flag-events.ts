import type { JsonObject, MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { KnownUser } from '../../../platform/authentication/credential-store.js';
import type { PublishedEvent } from '../../../platform/event-queues/published-event.js';
import type { ServerTables } from '../../../tables.js';
import { messageFlags } from '../message-flags.js';
import { eventWithTopics } from '../message-form.js';
import type { Message } from '../message-store.js';
import { readUserIds } from '../related-records.js';
import { readSubscribedMutes } from '../topics/subscribed-mutes.js';
import type { FlagRequest } from './flag-request.js';

/**
 * Builds `update_message_flags` for a user's clients. If messages become unread, the event includes the details that
 * clients need to count them.
 */
export async function flagEvent(
  db: Kysely<ServerTables>,
  { id }: KnownUser,
  { flag, op }: Pick<FlagRequest, 'flag' | 'op'>,
  messages: readonly Message[],
): Promise<PublishedEvent> {
  const ids = messages.map(({ id }) => id);
  if (flag !== 'read' || op !== 'remove') return plainFlagEvent(id, { flag, op }, ids);
  const details = await readDetails(db, id, messages);
  const write = (named: (topic: string) => string): JsonObject => ({
    ...writeFlags({ flag, op }, ids),
    message_details: details(named),
  });
  return { ...eventWithTopics(eventType, write), audience: [id] };
}

/** Like {@link flagEvent}, but without message details. For all changes except marking as unread. */
export function plainFlagEvent(
  userId: UserId,
  requested: Pick<FlagRequest, 'flag' | 'op'>,
  messageIds: readonly MessageId[],
): PublishedEvent {
  return { event: { type: eventType, ...writeFlags(requested, messageIds) }, audience: [userId] };
}

const eventType = 'update_message_flags';

function writeFlags(
  { flag, op }: Pick<FlagRequest, 'flag' | 'op'>,
  messageIds: readonly MessageId[],
): JsonObject {
  return { op, operation: op, flag, messages: messageIds, all: false };
}

/**
 * Reads the message details that clients need to count unread messages. The returned function builds them with topic
 * names in the client's form.
 */
async function readDetails(
  db: Kysely<ServerTables>,
  userId: KnownUser['id'],
  messages: readonly Message[],
): Promise<(named: (topic: string) => string) => JsonObject> {
  const copies = await db
    .selectFrom('user_messages')
    .leftJoin('messages', 'messages.id', 'user_messages.message_id')
    .leftJoin('conversations', 'conversations.id', 'messages.conversation_id')
    .select(['message_id', 'flags', 'participants'])
    .where('user_id', '=', userId)
    .where(
      'message_id',
      'in',
      amongNumbers(
        db,
        messages.map(({ id }) => id),
      ),
    )
    .execute();
  const byId = new Map(copies.map((copy) => [copy.message_id, copy]));
  const isMuted = await readSubscribedMutes(db, userId);
  const mentions =
    messageFlags.mentioned | messageFlags.stream_wildcard_mentioned | messageFlags.topic_wildcard_mentioned;
  return (named) =>
    Object.fromEntries(
      messages.map((message) => {
        const copy = byId.get(message.id);
        const mentioned = ((copy?.flags ?? 0) & mentions) === 0 ? {} : { mentioned: true };
        const others = readUserIds(copy?.participants ?? '').filter((each) => each !== userId);
        const details: JsonObject =
          message.channelId === undefined
            ? { type: 'private', user_ids: others }
            : {
                type: 'stream',
                stream_id: message.channelId,
                topic: named(message.topic),
                unmuted_stream_msg: !isMuted(message.channelId),
              };
        return [String(message.id), { ...details, ...mentioned }];
      }),
    );
}
