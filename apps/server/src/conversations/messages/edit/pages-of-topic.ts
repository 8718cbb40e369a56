import type { MessageId } from '@waxwing/protocol';
import { lockingRows, readPages } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import type { ServerTables } from '../../../tables.js';
import { isReadable } from '../message-access.js';
import { topicKey } from '../message-store.js';
import type { PlannedMove } from './plan-edit.js';

/** Page size. Bounds the time of one statement, because SQLite runs statements on the event loop. */
const messagesPerPage = 1000;

interface TopicSearch {
  /** Selects only messages with ids above this id. Default: all messages. */
  readonly afterId?: number;
  /** Selects messages that this user may read. `undefined` selects all messages. */
  readonly reader: PermissionHolder | undefined;
  /** Whether to lock the messages until the transaction ends. */
  readonly isLocking?: boolean;
}

interface TopicMessage {
  readonly id: MessageId;
  readonly sent_at: number;
}

/** Yields the messages of a topic in pages of up to 1000, ordered by id. */
export function pagesOfTopic(
  db: Kysely<ServerTables>,
  { channelId, topic }: PlannedMove['from'],
  { afterId = 0, reader, isLocking = false }: TopicSearch,
): AsyncGenerator<readonly TopicMessage[]> {
  return readPages(messagesPerPage, (last?: TopicMessage) =>
    db
      .selectFrom('messages')
      .select(['id', 'sent_at'])
      .where('channel_id', '=', channelId)
      .where('topic_lower', '=', topicKey(topic))
      .where('id', '>', last?.id ?? (afterId as MessageId))
      .$if(reader !== undefined, (query) => query.where(isReadable(reader as PermissionHolder)))
      .orderBy('id')
      .limit(messagesPerPage)
      .$if(isLocking, (query) => query.modifyEnd(lockingRows(db)))
      .execute(),
  );
}
