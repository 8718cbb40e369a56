import type { MessageId, UserId } from '@waxwing/protocol';
import { type Db, insertAll } from './member-rows.js';

const linksPerMessage = 120;

/** Adds files to which all the given messages link. Returns a text with links to the files. */
export async function addFiles(
  db: Db,
  userId: UserId,
  count: number,
  messageIds: readonly MessageId[],
): Promise<string> {
  const paths = Array.from(
    { length: count },
    (_, index) => `1/ab/${String(index).padStart(24, 'x')}/file.txt`,
  );
  await insertAll(
    db,
    'attachments',
    paths.map((path_id) => ({
      path_id,
      owner_id: userId,
      file_name: 'file.txt',
      content_type: 'text/plain',
      size_bytes: 1,
      created_at: 0,
      is_stored: 1,
      unclaimed_since: null,
    })),
  );
  const uploads = await db.selectFrom('attachments').select('id').where('owner_id', '=', userId).execute();
  await insertAll(
    db,
    'attachment_messages',
    uploads.flatMap(({ id }) => messageIds.map((message_id) => ({ attachment_id: id, message_id }))),
  );
  return paths
    .slice(0, linksPerMessage)
    .map((path) => `[file](/user_uploads/${path})`)
    .join(' ');
}
