import type { MessageId } from '@waxwing/protocol';
import { amongNumbersOf, fixedQuery } from '@waxwing/storage';
import { type Kysely, type Selectable, sql } from 'kysely';
import { groupedBy } from '../../../people/permissions/grouped-by.js';
import type { ServerTables } from '../../../tables.js';

/** An edit in a message's `edit_history`. */
export type MessageEdit = Omit<Selectable<ServerTables['message_edits']>, 'content_html_diff'>;

/** Maximum number of edits in a message's `edit_history`. */
const maximumEdits = 10;
/** Maximum total size of the texts in a message's `edit_history`. The newest edit may exceed it. */
const maximumTextBytes = 8 * 1024;

/**
 * Returns the newest edits of each message, newest first. Bounded in number and size, because a request may read
 * thousands of messages with thousands of edits each.
 */
export async function readNewestEdits(
  db: Kysely<ServerTables>,
  messageIds: readonly MessageId[],
): Promise<ReadonlyMap<MessageId, readonly MessageEdit[]>> {
  if (messageIds.length === 0) return new Map();
  const rows = await newestEdits(db, { ids: JSON.stringify(messageIds) });
  return groupedBy(rows, ({ message_id }) => message_id);
}

interface Ids {
  /** A JSON array. */
  readonly ids: string;
}

const newestEdits = fixedQuery<ServerTables, Ids, MessageEdit>((db, parameter) => {
  const asked = amongNumbersOf<ServerTables, MessageId>(db, parameter('ids'));
  const lastLeftOut = sql`coalesce((
    select older.id from message_edits as older where older.message_id = asked.value
    order by older.id desc limit 1 offset ${sql.lit(maximumEdits)}
  ), 0)`;
  // Selects only ids, because the database copies all selected columns when it numbers the rows.
  const numbered = sql<{ id: number }>`(
    select edit.id, row_number() over newest_first as place,
      sum(coalesce(octet_length(edit.prev_content) + octet_length(edit.prev_rendered_content), 0))
        over newest_first as bytes
    from (select asked.value as message_id, ${lastLeftOut} as last_left_out from ${asked} as asked) as bounds
    join message_edits as edit on edit.message_id = bounds.message_id and edit.id > bounds.last_left_out
    window newest_first as (partition by edit.message_id order by edit.id desc)
  )`;
  return db
    .selectFrom(
      sql<{ id: number }>`(select id from ${numbered} as numbered
        where place = 1 or bytes <= ${sql.lit(maximumTextBytes)})`.as('shown'),
    )
    .innerJoin('message_edits as edit', 'edit.id', 'shown.id')
    .select(['edit.id', 'edit.message_id', 'edit.edited_at', 'edit.editor_id'])
    .select(['edit.prev_content', 'edit.prev_rendered_content', 'edit.prev_topic', 'edit.topic'])
    .select(['edit.prev_channel_id', 'edit.channel_id'])
    .orderBy('edit.id', 'desc');
});
