import type { ServerTables } from '#server/tables.js';
import { messageId } from '../../../../support/ids.js';
import type { OrganisationUnderTest } from '../../organisation-under-test.js';

export type EditRow = Partial<Omit<ServerTables['message_edits'], 'id' | 'message_id'>>;

/** Stores edits of a message, oldest first, as if the member had made them. */
export async function storeEdits(
  organisation: OrganisationUnderTest,
  id: number,
  rows: readonly EditRow[],
): Promise<void> {
  const usual = {
    message_id: messageId(id),
    edited_at: 0,
    editor_id: organisation.id('member'),
    prev_content: null,
    prev_rendered_content: null,
    content_html_diff: null,
    prev_topic: null,
    topic: null,
    prev_channel_id: null,
    channel_id: null,
  };
  await organisation.server.server.database.write(async ({ db }) => {
    for (let from = 0; from < rows.length; from += 500) {
      const some = rows.slice(from, from + 500).map((row) => ({ ...usual, ...row }));
      await db.insertInto('message_edits').values(some).execute();
    }
  });
}
