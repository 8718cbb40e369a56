import type { MessageId } from '@waxwing/protocol';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import type { ServerTables } from '../../../tables.js';
import { isReadable } from '../message-access.js';
import { messageFlags } from '../message-flags.js';
import { type MessageForm, writeTopic } from '../message-form.js';
import { topicKey } from '../message-store.js';
import { readUserIds } from '../related-records.js';

const ids = z.array(z.number().int());
/** Maximum number of unread messages in the list. The newest messages take precedence. */
const maximumUnread = 50_000;

/** The `unread_msgs` field of the register response. Lists of ids are ascending. */
export const unreadShape = z.object({
  count: z.number().int(),
  pms: z.array(
    z.object({ other_user_id: z.number().int(), sender_id: z.number().int(), unread_message_ids: ids }),
  ),
  streams: z.array(z.object({ stream_id: z.number().int(), topic: z.string(), unread_message_ids: ids })),
  huddles: z.array(z.object({ user_ids_string: z.string(), unread_message_ids: ids })),
  mentions: ids,
  old_unreads_missing: z.boolean(),
});

type Unread = z.input<typeof unreadShape>;

/** Reads the unread messages that the reader may read, in one statement. */
export async function readUnread(
  db: Kysely<ServerTables>,
  reader: PermissionHolder,
  form: Pick<MessageForm, 'knowsEmptyTopic'>,
): Promise<Unread> {
  const newest = await db
    .selectFrom('user_messages as copy')
    .innerJoin('messages', 'messages.id', 'copy.message_id')
    .leftJoin('conversations', 'conversations.id', 'messages.conversation_id')
    .select(['messages.id', 'messages.channel_id', 'messages.topic', 'copy.flags', 'participants'])
    .where('copy.user_id', '=', reader.id)
    .where(sql<boolean>`copy.flags & ${sql.raw(String(messageFlags.read))} = 0`)
    .where(isReadable(reader))
    .orderBy('copy.message_id', 'desc')
    .limit(maximumUnread + 1)
    .execute();
  const rows = newest.slice(0, maximumUnread).reverse();
  const [topics, others, groups] = [new Lists(), new Lists(), new Lists()];
  const names = new Map<string, { readonly stream_id: number; readonly topic: string }>();
  for (const { id, channel_id, topic, participants } of rows) {
    if (channel_id !== null) {
      const key = `${channel_id} ${topicKey(topic)}`;
      names.set(key, { stream_id: channel_id, topic: writeTopic(topic, form) });
      topics.add(key, id);
    } else if (participants !== null) {
      const people = readUserIds(participants);
      const [other = reader.id] = people.filter((userId) => userId !== reader.id);
      if (people.length > 2) groups.add(participants, id);
      else others.add(String(other), id);
    }
  }
  return {
    count: rows.length,
    pms: others.all().map(([other, unread_message_ids]) => ({
      other_user_id: Number(other),
      sender_id: Number(other),
      unread_message_ids,
    })),
    streams: topics.all().map(([key, unread_message_ids]) => ({
      ...(names.get(key) as { stream_id: number; topic: string }),
      unread_message_ids,
    })),
    huddles: groups.all().map(([user_ids_string, unread_message_ids]) => ({
      user_ids_string,
      unread_message_ids,
    })),
    mentions: rows.filter(({ flags }) => (flags & mentionBits) !== 0).map(({ id }) => id),
    old_unreads_missing: newest.length > maximumUnread,
  };
}

const mentionBits =
  messageFlags.mentioned | messageFlags.stream_wildcard_mentioned | messageFlags.topic_wildcard_mentioned;

/** Lists of ids by key, in insertion order. */
class Lists {
  readonly #lists = new Map<string, number[]>();

  add(key: string, id: MessageId): void {
    const known = this.#lists.get(key);
    if (known === undefined) this.#lists.set(key, [id]);
    else known.push(id);
  }

  all(): [string, number[]][] {
    return [...this.#lists];
  }
}
