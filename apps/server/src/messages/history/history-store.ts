import type { MessageId } from '@waxwing/protocol';
import { type Kysely, sql } from 'kysely';
import type { PermissionHolder } from '../../permissions/permission-store.js';
import type { ServerTables } from '../../tables.js';
import { isReadable } from '../message-access.js';
import type { StoredEdit, StoredMessage } from './message-snapshots.js';

/**
 * A consistent snapshot of a message and its edits, oldest first, in one statement. `undefined` if the message does not
 * exist or the reader may not read it.
 */
export async function readMessageHistory(
  db: Kysely<ServerTables>,
  reader: PermissionHolder,
  id: MessageId,
): Promise<{ readonly message: StoredMessage; readonly edits: readonly StoredEdit[] } | undefined> {
  const rows = await db
    .selectFrom('messages')
    .leftJoin('message_edits as edit', 'edit.message_id', 'messages.id')
    .where('messages.id', '=', id)
    .where(isReadable(reader))
    .select([
      'messages.sender_id',
      'messages.sent_at',
      'messages.conversation_id',
      'messages.topic as topic_now',
      inFirstRow('messages.content').as('content'),
      inFirstRow('messages.rendered_content').as('rendered_content'),
      'edit.editor_id',
      'edit.edited_at',
      'edit.prev_content',
      'edit.prev_rendered_content',
      'edit.prev_topic',
      'edit.prev_channel_id',
      'edit.channel_id',
    ])
    .orderBy('edit.id')
    .execute();
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    message: {
      senderId: row.sender_id,
      sentAt: row.sent_at,
      isDirect: row.conversation_id !== null,
      topic: row.topic_now,
      content: row.content ?? '',
      renderedContent: row.rendered_content ?? '',
    },
    edits: rows.flatMap((edit) => toEdit(edit) ?? []),
  };
}

/**
 * Selects a message column only in the row of the first edit: repeated in each row, the text would be read up to a
 * hundred times.
 */
function inFirstRow(column: 'messages.content' | 'messages.rendered_content') {
  return sql<string | null>`case when not exists (
    select 1 from message_edits as earlier where earlier.message_id = messages.id and earlier.id < edit.id
  ) then ${sql.ref(column)} end`;
}

type NullableEdit = {
  readonly [Column in
    | 'editor_id'
    | 'edited_at'
    | 'prev_content'
    | 'prev_rendered_content'
    | 'prev_topic'
    | 'prev_channel_id'
    | 'channel_id']: ServerTables['message_edits'][Column] | null;
};

/** `undefined` for the row of a message without edits. */
function toEdit(row: NullableEdit): StoredEdit | undefined {
  const { editor_id, edited_at, prev_content, prev_rendered_content, prev_topic } = row;
  if (editor_id === null || edited_at === null) return undefined;
  const { prev_channel_id: from, channel_id: to } = row;
  return {
    editorId: editor_id,
    editedAt: edited_at,
    before: {
      ...(prev_content === null ? {} : { content: prev_content }),
      ...(prev_rendered_content === null ? {} : { renderedContent: prev_rendered_content }),
      ...(prev_topic === null ? {} : { topic: prev_topic }),
    },
    channel: from === null || to === null ? undefined : { from, to },
  };
}
