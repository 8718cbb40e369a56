import type { ServerDatabase, ServerTables } from '#server/tables.js';

export type Db = ServerDatabase['db'];
type Table =
  | 'messages'
  | 'message_edits'
  | 'users'
  | 'subscriptions'
  | 'profile_values'
  | 'attachments'
  | 'attachment_messages';

const rowsPerStatement = 200;

/** Inserts rows with one transaction per statement, so that the server can write in between. */
export async function insertAll(
  db: Db,
  table: Table,
  rows: readonly Partial<ServerTables[Table]>[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    const some = rows.slice(from, from + rowsPerStatement);
    await db
      .insertInto(table)
      .values(some as never)
      .execute();
  }
}
