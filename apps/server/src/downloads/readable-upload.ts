import { ProtocolError } from '@waxwing/protocol';
import { type Kysely, sql } from 'kysely';
import { isReadable } from '../messages/message-access.js';
import type { PermissionHolder } from '../permissions/permission-store.js';
import type { ServerTables } from '../tables.js';
import { findUpload, type Upload } from '../uploads/upload-store.js';

/**
 * The file of this path. Its owner reads it, and whoever may read a message that refers to it; of those without an account,
 * who are `undefined`, it is messages of web-public channels.
 * @throws ProtocolError NOT_FOUND where there is no such file, and alike where it is not for this reader.
 */
export async function requireReadableUpload(
  db: Kysely<ServerTables>,
  reader: PermissionHolder | undefined,
  pathId: string,
): Promise<Upload> {
  return requireReadable(db, reader, await findUpload(db, pathId));
}

/** As {@link requireReadableUpload}, for a file that was looked up already. */
export async function requireReadable(
  db: Kysely<ServerTables>,
  reader: PermissionHolder | undefined,
  upload: Upload | undefined,
): Promise<Upload> {
  if (upload === undefined) throw noSuchFile();
  if (upload.ownerId === reader?.id) return upload;
  const readable =
    reader === undefined
      ? sql<boolean>`messages.channel_id in (select id from channels where is_web_public = 1)`
      : isReadable(reader);
  const reference = await db
    .selectFrom('attachment_messages as reference')
    .innerJoin('messages', 'messages.id', 'reference.message_id')
    .select('messages.id')
    .where('reference.attachment_id', '=', upload.id)
    .where(readable)
    .limit(1)
    .executeTakeFirst();
  if (reference === undefined) throw noSuchFile();
  return upload;
}

export function noSuchFile(): ProtocolError {
  return new ProtocolError('NOT_FOUND', { message: 'There is no such file' });
}
