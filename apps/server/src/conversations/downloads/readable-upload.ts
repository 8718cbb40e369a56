import type { Kysely } from 'kysely';
import { noSuchFile } from '../../content/uploads/no-such-file.js';
import { findUpload, type Upload } from '../../content/uploads/upload-store.js';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import { isMessageOnWeb } from '../../people/realm/public-access.js';
import type { ServerTables } from '../../tables.js';
import { isReadable } from '../messages/message-access.js';

/**
 * Returns the file with this path, if the reader may read it. A file is readable for its owner, and for all users who
 * may read a message that refers to it. An unauthenticated client (`undefined`) may read it if a message in a
 * web-public channel refers to it.
 * @throws ProtocolError NOT_FOUND if the file does not exist or the reader may not read it.
 */
export async function requireReadableUpload(
  db: Kysely<ServerTables>,
  reader: PermissionHolder | undefined,
  pathId: string,
): Promise<Upload> {
  return requireReadable(db, reader, await findUpload(db, pathId));
}

/** Like {@link requireReadableUpload}, for a file that the caller has looked up. */
export async function requireReadable(
  db: Kysely<ServerTables>,
  reader: PermissionHolder | undefined,
  upload: Upload | undefined,
): Promise<Upload> {
  if (upload === undefined) throw noSuchFile();
  if (upload.ownerId === reader?.id) return upload;
  const reference = await db
    .selectFrom('attachment_messages as reference')
    .innerJoin('messages', 'messages.id', 'reference.message_id')
    .select('messages.id')
    .where('reference.attachment_id', '=', upload.id)
    .where(reader === undefined ? isMessageOnWeb : isReadable(reader))
    .limit(1)
    .executeTakeFirst();
  if (reference === undefined) throw noSuchFile();
  return upload;
}
