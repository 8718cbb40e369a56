import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { observeQueries } from '../../../support/observe-queries.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { upload } from './send-file.js';

/** Number of files: more than two pages. */
const files = 120;
const messages = 150;
/** Maximum rows per statement, because a long statement delays other requests. */
const mostRows = 100;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  describe('many files that many messages refer to', () => {
    it('are listed in small pages, each file once, with its newest hundred messages', async () => {
      const { member } = organisation.accounts;
      const first = await upload(organisation, member);
      const { db } = organisation.server.server.database;
      const { message_id: messageIds } = await addReferences(first);
      let most = 0;
      const stop = observeQueries(db, ({ rows }) => {
        most = Math.max(most, rows.length);
      });
      const { attachments } = await organisation.do('member', 'GET', 'attachments');
      stop();
      const listed = attachments as { name: string; message_ids: number[] }[];
      expect(listed.map(({ name }) => name)).toEqual([
        'cat.png',
        ...Array.from({ length: files }, (_, index) => `file ${index}`),
      ]);
      expect(listed[0]?.message_ids).toEqual([]);
      const newest = messageIds.slice(-100);
      expect(listed.slice(1).every(({ message_ids }) => String(message_ids) === String(newest))).toBe(true);
      expect(most).toBeLessThanOrEqual(mostRows);
    });
  });

  /** Copies an upload, and makes all messages refer to each copy. Returns the messages in order. */
  async function addReferences(path: string): Promise<{ message_id: number[] }> {
    const numbers = (length: number) => Array.from({ length }, (_, index) => ({ number: index }));
    return organisation.server.server.database.write(async ({ db }) => {
      await sql`
        insert into attachments (path_id, owner_id, file_name, content_type, size_bytes, created_at, is_stored)
        select 'copy' || v.number, owner_id, 'file ' || v.number, content_type, 0, created_at, 1
        from attachments, ${rowsAsTable(db, 'v', { number: 'integer' }, numbers(files))}
        where path_id = ${path} order by v.number`.execute(db);
      const added = await sql<{ id: number }>`
        insert into messages (sender_id, topic, topic_lower, content, rendered_content, sent_at, client,
          has_link, has_image, has_attachment)
        select owner_id, 'files', 'files', '', '', 0, 'test', 1, 0, 1
        from attachments, ${rowsAsTable(db, 'v', { number: 'integer' }, numbers(messages))}
        where path_id = ${path} returning id`.execute(db);
      await sql`
        insert into attachment_messages (attachment_id, message_id)
        select attachments.id, messages.id from attachments, messages
        where attachments.path_id like 'copy%' and messages.client = 'test'`.execute(db);
      return { message_id: added.rows.map(({ id }) => id).sort((a, b) => a - b) };
    });
  }
});
