import type { MessageId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { ServerTables } from '../../../tables.js';

type Db = Transaction<ServerTables>;

/** Maximum number of edits, including moves, in a message's history. */
export const maximumEdits = 1000;
/** Maximum size of a message's earlier texts and their diffs. */
const maximumTextBytes = 8 * 1024 * 1024;

/**
 * SQL expression for the size of an edit's texts and diff, which databases determine without reading them. `null` if
 * the edit did not change the text.
 */
export const textBytes = sql<number | null>`octet_length(prev_content) + octet_length(prev_rendered_content)
  + coalesce(octet_length(content_html_diff), 0)`;

/**
 * Returns an SQL expression for the id of the first edit of a message's text. This edit contains the original text and
 * is never dropped from the history. `message` is the message's id.
 */
export const originalEdit = (message: RawBuilder<unknown>) => sql<number | null>`(
  select min(first.id) from message_edits as first
  where first.message_id = ${message} and first.prev_content is not null)`;

/**
 * Drops a message's oldest edits that exceed the limits. Keeps the edit with the original text, so that the history
 * still starts with it.
 */
export async function trimHistory(db: Db, messageId: MessageId): Promise<void> {
  const original = originalEdit(sql`${messageId}`);
  const { rows: dropped } = await sql<{ id: number }>`
    select id from (
      select id,
        row_number() over by_importance as place,
        sum(coalesce(${textBytes}, 0)) over by_importance as bytes
      from message_edits
      where message_id = ${messageId}
      window by_importance as (order by case when id = ${original} then 0 else 1 end, id desc)
    ) as edits
    where place > ${maximumEdits} or (place > 2 and bytes > ${maximumTextBytes})`.execute(db);
  if (dropped.length === 0) return;
  const ids = dropped.map(({ id }) => id);
  await db.deleteFrom('message_edits').where('id', 'in', amongNumbers(db, ids)).execute();
  // The diff stored with the original may compare it to a text that was deleted above.
  await db
    .updateTable('message_edits')
    .set({ content_html_diff: null })
    .where('message_id', '=', messageId)
    .where('id', '=', original)
    .execute();
}
