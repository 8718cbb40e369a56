import type { MessageId } from '@waxwing/protocol';
import { sql, type Transaction } from 'kysely';
import type { ServerTables } from '../../../tables.js';

type Db = Transaction<ServerTables>;

/** The most edits, moves included, that a message's history shows. */
export const maximumEdits = 1000;
/** Maximum size of a message's earlier texts and their diffs. */
const maximumTextBytes = 8 * 1024 * 1024;

/**
 * Size of an edit's texts and diff, which the database knows without reading them. `null` if the text did not change.
 */
export const textBytes = sql<number | null>`octet_length(prev_content) + octet_length(prev_rendered_content)
  + coalesce(octet_length(content_html_diff), 0)`;

/**
 * Drops a message's oldest edits beyond the limits, after an edit of its text. Makes the oldest remaining edit change
 * the original text, so that the history still starts with the original.
 */
export async function trimHistory(db: Db, messageId: MessageId): Promise<void> {
  const { rows: dropped } = await sql<{ id: number; has_text: number }>`
    select id, has_text from (
      select id,
        case when prev_content is null then 0 else 1 end as has_text,
        row_number() over newest_first as place,
        sum(coalesce(${textBytes}, 0)) over newest_first as bytes
      from message_edits
      where message_id = ${messageId}
      window newest_first as (order by id desc)
    ) as edits
    where place > ${maximumEdits} or (place > 1 and bytes > ${maximumTextBytes})
    order by id`.execute(db);
  const last = dropped.at(-1);
  if (last === undefined) return;
  const original = dropped.find(({ has_text }) => Number(has_text) === 1);
  if (original !== undefined) await keepOriginal(db, messageId, { from: original.id, last: last.id });
  await db
    .deleteFrom('message_edits')
    .where('message_id', '=', messageId)
    .where('id', '<=', last.id)
    .execute();
}

/**
 * Makes the oldest edit after `last` start with the text before the edit `from`. Skips a move without a new text:
 * readers who may see only moves would otherwise get the original as the text at that move.
 */
async function keepOriginal(
  db: Db,
  messageId: MessageId,
  { from, last }: { readonly from: number; readonly last: number },
): Promise<void> {
  const original = db.selectFrom('message_edits as original').where('original.id', '=', from);
  await db
    .updateTable('message_edits')
    .set({
      prev_content: original.select('original.prev_content'),
      prev_rendered_content: original.select('original.prev_rendered_content'),
      content_html_diff: null,
    })
    .where('prev_content', 'is not', null)
    .where('id', '=', (oldest) =>
      oldest
        .selectFrom('message_edits as later')
        .select(({ fn }) => fn.min('later.id').as('id'))
        .where('later.message_id', '=', messageId)
        .where('later.id', '>', last),
    )
    .execute();
}
