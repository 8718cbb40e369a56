import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import type { ServerTables } from '../../../tables.js';
import { isReadable } from '../message-access.js';
import type { EditText, StoredEdit, StoredMessage } from './message-snapshots.js';
import { maximumEdits, originalEdit, textBytes } from './trim-history.js';

/**
 * Reads a consistent snapshot of a message and its edits, oldest first, in one statement. The edits do not include
 * their texts. Moves do not trim the history, so there may be more edits than {@link maximumEdits}. In this case,
 * returns only the edit with the original text and the newest other edits. Returns `undefined` if the message does not
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
      'edit.id as edit_id',
      'edit.editor_id',
      'edit.edited_at',
      textBytes.as('text_bytes'),
      'edit.prev_topic',
      'edit.prev_channel_id',
      'edit.channel_id',
    ])
    .orderBy(sql`case when edit.id = ${originalEdit(sql.ref('messages.id'))} then 0 else 1 end`)
    .orderBy('edit.id', 'desc')
    .limit(maximumEdits)
    .execute();
  const row = rows.find(({ content }) => content !== null);
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
    edits: rows.flatMap((edit) => toEdit(edit) ?? []).sort((one, other) => one.id - other.id),
  };
}

/** Returns the texts from before the given edits, by edit id. Omits edits that were deleted. */
export async function readEditTexts(
  db: Kysely<ServerTables>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, EditText>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('message_edits')
    .select(['id', 'prev_content', 'prev_rendered_content', 'content_html_diff'])
    .where('id', 'in', amongNumbers(db, ids))
    .execute();
  return new Map(
    rows.map(({ id, prev_content, prev_rendered_content, content_html_diff }) => [
      id,
      { content: prev_content ?? '', renderedContent: prev_rendered_content ?? '', diff: content_html_diff },
    ]),
  );
}

/**
 * Returns an expression that selects a message column only in the row of the newest edit. Otherwise the text would be
 * read once per edit, up to a thousand times.
 */
function inFirstRow(column: 'messages.content' | 'messages.rendered_content') {
  return sql<string | null>`case when not exists (
    select 1 from message_edits as later where later.message_id = messages.id and later.id > edit.id
  ) then ${sql.ref(column)} end`;
}

interface NullableEdit {
  readonly edit_id: number | null;
  readonly editor_id: UserId | null;
  readonly edited_at: number | null;
  readonly text_bytes: number | null;
  readonly prev_topic: string | null;
  readonly prev_channel_id: ChannelId | null;
  readonly channel_id: ChannelId | null;
}

/** Converts a row to an edit. Returns `undefined` for the row of a message without edits. */
function toEdit(row: NullableEdit): StoredEdit | undefined {
  const { edit_id: id, editor_id, edited_at, text_bytes, prev_topic } = row;
  if (id === null || editor_id === null || edited_at === null) return undefined;
  const { prev_channel_id: from, channel_id: to } = row;
  return {
    id,
    editorId: editor_id,
    editedAt: edited_at,
    textBytes: text_bytes ?? undefined,
    previousTopic: prev_topic ?? undefined,
    channel: from === null || to === null ? undefined : { from, to },
  };
}
