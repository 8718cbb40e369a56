import type { UserId } from '@waxwing/protocol';
import { unixSeconds } from '@waxwing/service/lifecycle';
import { amongNumbers } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import type { PublishedEvent } from '../../platform/event-queues/published-event.js';
import type { ServerTables } from '../../tables.js';
import { readUsedBytes } from './upload-account.js';
import type { Upload } from './upload-store.js';

/** A file in the list of a user's files, and in events. */
export const attachmentRecord = z.object({
  id: z.number().int(),
  name: z.string(),
  path_id: z.string(),
  size: z.number().int(),
  /** Unix seconds. */
  create_time: z.number().int(),
  /** In ascending order. */
  message_ids: z.array(z.number().int()),
});

type AttachmentRecord = z.input<typeof attachmentRecord>;

/** Maximum messages listed per file, because a file may be in very many. */
const messagesPerFile = 100;

/** Writes files with the newest messages that refer to them, in one statement. */
export async function writeAttachments(
  db: Kysely<ServerTables>,
  uploads: readonly Upload[],
): Promise<AttachmentRecord[]> {
  if (uploads.length === 0) return [];
  const ids = uploads.map(({ id }) => id);
  const rows = await db
    .selectFrom((inner) =>
      inner
        .selectFrom('attachment_messages as reference')
        .select(['reference.attachment_id', 'reference.message_id'])
        .select(
          sql<number>`row_number() over (partition by attachment_id order by message_id desc)`.as('place'),
        )
        .where('reference.attachment_id', 'in', amongNumbers(db, ids))
        .as('placed'),
    )
    .select(['placed.attachment_id', 'placed.message_id'])
    .where('placed.place', '<=', messagesPerFile)
    .orderBy('placed.message_id')
    .execute();
  const messageIds = new Map<number, number[]>(ids.map((id) => [id, []]));
  for (const { attachment_id, message_id } of rows) messageIds.get(attachment_id)?.push(message_id);
  return uploads.map(({ id, fileName, pathId, sizeBytes, createdAt }) => ({
    id,
    name: fileName,
    path_id: pathId,
    size: sizeBytes,
    create_time: unixSeconds(createdAt),
    message_ids: messageIds.get(id) ?? [],
  }));
}

/** The events for owners of new files, or of files that messages now refer to, with the newest of these messages. */
export async function attachmentEvents(
  db: Kysely<ServerTables>,
  op: 'add' | 'update',
  uploads: readonly Upload[],
): Promise<PublishedEvent[]> {
  if (uploads.length === 0) return [];
  const upload_space_used = await readUsedBytes(db);
  const attachments = await writeAttachments(db, uploads);
  return attachments.map((attachment, index) => ({
    event: { type: 'attachment', op, attachment, upload_space_used },
    audience: [uploads[index]?.ownerId as UserId],
  }));
}
