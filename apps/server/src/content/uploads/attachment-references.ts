import type { MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers, lockingRows, rowsAsTable } from '@waxwing/storage';
import { type RawBuilder, sql } from 'kysely';
import type { ServerContext } from '../../context.js';
import type { ServerTransaction } from '../../tables.js';
import { attachmentEvents } from './attachment-record.js';
import { findUploads, lockUploads, type Upload } from './upload-store.js';

/** The files that a message's text refers to. */
export interface UploadClaim {
  readonly messageId: MessageId;
  readonly pathIds: readonly string[];
}

/** The user who sends or edits the messages. */
export interface Claimant {
  readonly userId: UserId;
  /**
   * SQL condition that selects the rows of `messages` that this user may read. The user may refer to another user's
   * file if a readable message already does.
   */
  readonly isReadable: RawBuilder<boolean>;
}

/**
 * Records which messages refer to which files, and flags the messages as having attachments. Notifies the owners of
 * newly referenced files. Skips files that do not exist, and files that the claimant neither owns nor can read in
 * another message. Runs a constant number of statements.
 */
export async function claimUploads(
  transaction: ServerTransaction,
  { publish }: Pick<ServerContext, 'publish'>,
  { userId, isReadable }: Claimant,
  claims: readonly UploadClaim[],
): Promise<void> {
  const named = [...new Set(claims.flatMap(({ pathIds }) => pathIds))];
  if (named.length === 0) return;
  const { db } = transaction;
  const locked = await lockUploads(transaction, named);
  const others = locked.filter(({ ownerId }) => ownerId !== userId).map(({ id }) => id);
  const read = others.length === 0 ? new Set<number>() : await readAmong(transaction, isReadable, others);
  const allowed = locked.filter(({ id, ownerId }) => ownerId === userId || read.has(id));
  const byPath = new Map(allowed.map(({ id, pathId }) => [pathId, id]));
  const pairs = claims.flatMap(({ messageId, pathIds }) =>
    [...new Set(pathIds)].flatMap((pathId) => {
      const id = byPath.get(pathId);
      return id === undefined ? [] : [{ attachment_id: id, message_id: messageId }];
    }),
  );
  if (pairs.length === 0) return;
  const columns = { attachment_id: 'integer', message_id: 'integer' } as const;
  const { rows: added } = await sql<{ attachment_id: number }>`
    insert into attachment_messages (attachment_id, message_id)
    select v.attachment_id, v.message_id from ${rowsAsTable(db, 'v', columns, pairs)} where true
    on conflict do nothing returning attachment_id`.execute(db);
  const claimedIds = [...new Set(added.map(({ attachment_id }) => attachment_id))];
  if (claimedIds.length === 0) return;
  await db
    .updateTable('attachments')
    .set({ unclaimed_since: null })
    .where('id', 'in', amongNumbers(db, claimedIds))
    .execute();
  const messageIds = pairs.map(({ message_id }) => message_id);
  await db
    .updateTable('messages')
    .set({ has_attachment: 1 })
    .where('id', 'in', amongNumbers(db, messageIds))
    .execute();
  const claimed = allowed.filter(({ id }) => claimedIds.includes(id));
  await publish(transaction, await attachmentEvents(db, 'update', claimed));
}

async function readAmong(
  { db }: ServerTransaction,
  isReadable: RawBuilder<boolean>,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await db
    .selectFrom('attachment_messages as reference')
    .innerJoin('messages', 'messages.id', 'reference.message_id')
    .select('reference.attachment_id as id')
    .distinct()
    .where('reference.attachment_id', 'in', amongNumbers(db, ids))
    .where(isReadable)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** A file that a message refers to. */
export interface ReferredUpload extends Upload {
  /** Whether another message also refers to the file. */
  readonly isReferredElsewhere: boolean;
}

/**
 * Returns the files that a message refers to, ordered by id. Locks the files and their references until the
 * transaction ends.
 */
export async function lockReferredUploads(
  transaction: ServerTransaction,
  messageId: MessageId,
): Promise<ReferredUpload[]> {
  const { db } = transaction;
  const ids = await lockReferred(transaction, [messageId]);
  if (ids.length === 0) return [];
  const elsewhere = await db
    .selectFrom('attachment_messages')
    .select('attachment_id')
    .distinct()
    .where('attachment_id', 'in', amongNumbers(db, ids))
    .where('message_id', '<>', messageId)
    .execute();
  const shared = new Set(elsewhere.map(({ attachment_id }) => attachment_id));
  return (await findUploads(db, ids)).map((upload) => ({
    ...upload,
    isReferredElsewhere: shared.has(upload.id),
  }));
}

/** The effect of a message edit on its files. */
export interface UploadEdit {
  /** Paths of the files that only the new text refers to. */
  readonly claimed: readonly string[];
  /** Ids of files that only the old text refers to. */
  readonly droppedIds: readonly number[];
  /** Dropped files that the editor owns and that no message refers to any longer. */
  readonly detached: readonly Upload[];
}

/**
 * Compares the files of a message before and after an edit.
 * @param named paths of the files that the new text refers to: `uploads` of the rendered text
 */
export function planDetached(
  referred: readonly ReferredUpload[],
  named: readonly string[],
  editorId: UserId,
): UploadEdit {
  const before = new Set(referred.map(({ pathId }) => pathId));
  const after = new Set(named);
  const dropped = referred.filter(({ pathId }) => !after.has(pathId));
  return {
    claimed: [...after].filter((pathId) => !before.has(pathId)),
    droppedIds: dropped.map(({ id }) => id),
    detached: dropped.filter(
      ({ isReferredElsewhere, ownerId }) => !isReferredElsewhere && ownerId === editorId,
    ),
  };
}

/** Removes a message's references to these files. The caller must have locked them with {@link lockReferredUploads}. */
export async function dropReferences(
  { db }: ServerTransaction,
  messageId: MessageId,
  droppedIds: readonly number[],
  now: number,
): Promise<void> {
  if (droppedIds.length === 0) return;
  await db
    .deleteFrom('attachment_messages')
    .where('message_id', '=', messageId)
    .where('attachment_id', 'in', amongNumbers(db, droppedIds))
    .execute();
  await markUnclaimed(db, droppedIds, now);
  await db
    .updateTable('messages')
    .set({ has_attachment: 0 })
    .where('id', '=', messageId)
    .where(({ exists, not, selectFrom }) =>
      not(exists(selectFrom('attachment_messages').select('message_id').where('message_id', '=', messageId))),
    )
    .execute();
}

/** Removes all file references of these messages. Call this before deleting the messages. */
export async function releaseUploads(
  transaction: ServerTransaction,
  messageIds: readonly MessageId[],
  now: number,
): Promise<void> {
  const { db } = transaction;
  const ids = await lockReferred(transaction, messageIds);
  if (ids.length === 0) return;
  await db
    .deleteFrom('attachment_messages')
    .where('message_id', 'in', amongNumbers(db, messageIds))
    .execute();
  await markUnclaimed(db, ids, now);
}

async function lockReferred({ db }: ServerTransaction, messageIds: readonly MessageId[]): Promise<number[]> {
  const rows = await db
    .selectFrom('attachments')
    .select('id')
    .where(
      'id',
      'in',
      db
        .selectFrom('attachment_messages')
        .select('attachment_id')
        .where('message_id', 'in', amongNumbers(db, messageIds)),
    )
    .orderBy('id')
    .modifyEnd(lockingRows(db))
    .execute();
  return rows.map(({ id }) => id);
}

async function markUnclaimed(
  db: ServerTransaction['db'],
  ids: readonly number[],
  now: number,
): Promise<void> {
  await db
    .updateTable('attachments')
    .set({ unclaimed_since: now })
    .where('id', 'in', amongNumbers(db, ids))
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('attachment_messages')
            .select('attachment_id')
            .whereRef('attachment_messages.attachment_id', '=', 'attachments.id'),
        ),
      ),
    )
    .execute();
}
