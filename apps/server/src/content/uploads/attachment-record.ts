import type { UserId } from '@waxwing/protocol';
import { unixSeconds } from '@waxwing/service/lifecycle';
import { amongNumbers, ascendingNumbers } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import type { PublishedEvent } from '../../platform/event-queues/published-event.js';
import type { ServerTables } from '../../tables.js';
import { readUsedBytes } from './upload-account.js';
import type { Upload } from './upload-store.js';

/** A file in a user's file list and in events. */
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

/** Maximum number of messages listed per file. Any number of messages can refer to a file. */
const messagesPerFile = 100;

/** Builds the records of files, each with the newest messages that refer to it. Runs one statement. */
export async function writeAttachments(
  db: Kysely<ServerTables>,
  uploads: readonly Upload[],
): Promise<AttachmentRecord[]> {
  if (uploads.length === 0) return [];
  const ids = uploads.map(({ id }) => id);
  const newest = sql`(
    select message_id from attachment_messages where attachment_id = attachments.id
    order by message_id desc limit ${sql.lit(messagesPerFile)}
  )`;
  const rows = await db
    .selectFrom('attachments')
    .where('id', 'in', amongNumbers(db, ids))
    .select('id')
    .select(
      sql<string | null>`(select ${ascendingNumbers(db, 'message_id')} from ${newest} as reference)`.as(
        'messages',
      ),
    )
    .execute();
  const messageIds = new Map(rows.map(({ id, messages }) => [id, JSON.parse(messages ?? '[]') as number[]]));
  return uploads.map(({ id, fileName, pathId, sizeBytes, createdAt }) => ({
    id,
    name: fileName,
    path_id: pathId,
    size: sizeBytes,
    create_time: unixSeconds(createdAt),
    message_ids: messageIds.get(id) ?? [],
  }));
}

/** Builds the events that notify owners of new files, and of new messages that refer to their files. */
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
