import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { ProtocolError } from '@waxwing/protocol';
import type { ServerContext } from '../../context.js';
import type { Requester } from '../../platform/authentication/authenticate.js';
import type { ServerTransaction } from '../../tables.js';
import { cleanFileName, shownFileName } from './file-name.js';
import { readUsedBytes, takeBytes } from './upload-account.js';
import { isStoredUpload, removeLeftFile } from './withdraw-uploads.js';

/** The organization's id in file paths. A server has only one organization. */
const realmId = 1;

/** A file to store, with callbacks for its transactions. */
export interface FileToKeep {
  readonly name: string;
  /** Media type in lower case, without parameters. */
  readonly contentType: string;
  readonly content: Readable;
  /**
   * Whether the file is its owner's avatar. Messages do not refer to avatars, and an avatar is kept until it is
   * replaced.
   */
  readonly isAvatar: boolean;
  /** Takes the locks that must be taken before the owner's lock. */
  readonly lock?: (transaction: ServerTransaction) => Promise<void>;
  /** Runs in the transaction that marks the file as stored. */
  readonly stored: (transaction: ServerTransaction, upload: NewUpload) => Promise<void>;
}

interface NewUpload {
  readonly id: number;
  readonly pathId: string;
  readonly fileName: string;
  readonly contentType: string;
}

/**
 * Stores a file for the actor. The file is durable when the promise resolves. On failure, removes the partial file
 * and destroys the content stream.
 * @throws ProtocolError REALM_UPLOAD_QUOTA, and the errors of the content stream and of `stored`.
 */
export async function keepFile(
  context: ServerContext,
  actor: Requester,
  file: FileToKeep,
): Promise<NewUpload> {
  const { store } = context.uploads;
  const upload = await announce(context, actor, file).catch((error: unknown) => {
    file.content.destroy();
    throw error;
  });
  let sizeBytes = 0;
  const counted = Readable.from(
    (async function* () {
      for await (const piece of file.content as AsyncIterable<Buffer>) {
        sizeBytes += piece.length;
        yield piece;
      }
    })(),
    { objectMode: false },
  );
  try {
    await store.write(upload.pathId, counted, upload.contentType);
    await complete(context, actor, { file, upload, sizeBytes });
    return upload;
  } catch (error) {
    // The commit may have succeeded even though its response was lost. Other users may already see the file, so it must
    // stay.
    if (await isStoredUpload(context, upload)) return upload;
    await removeLeftFile(context, upload);
    throw error;
  }
}

/** Inserts the row before the file is written. The cleanup job finds and removes an interrupted upload by this row. */
async function announce(
  { clock, database, uploads }: ServerContext,
  actor: Requester,
  { contentType, isAvatar, name }: FileToKeep,
): Promise<NewUpload> {
  const { quotaBytes } = uploads;
  if (quotaBytes !== undefined && (await readUsedBytes(database.db)) >= quotaBytes) throw quotaReached();
  const random = randomBytes(18).toString('base64url');
  const folder = randomBytes(1).toString('hex');
  const pathId = `${realmId}/${folder}/${random}/${cleanFileName(name)}`;
  const upload = { pathId, fileName: shownFileName(name), contentType };
  const now = clock();
  const { id } = await actor.change(({ db }) =>
    db
      .insertInto('attachments')
      .values({
        path_id: pathId,
        owner_id: actor.id,
        file_name: upload.fileName,
        content_type: upload.contentType,
        size_bytes: 0,
        created_at: now,
        is_stored: 0,
        unclaimed_since: now,
        is_avatar: isAvatar ? 1 : 0,
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  );
  return { id, ...upload };
}

interface Completed {
  readonly file: FileToKeep;
  readonly upload: NewUpload;
  readonly sizeBytes: number;
}

function complete(
  { uploads: { quotaBytes } }: ServerContext,
  actor: Requester,
  { file, upload, sizeBytes }: Completed,
): Promise<void> {
  return actor.change(
    async (transaction) => {
      const { db } = transaction;
      await db
        .updateTable('attachments')
        .set({ is_stored: 1, size_bytes: sizeBytes, ...(file.isAvatar && { unclaimed_since: null }) })
        .where('id', '=', upload.id)
        .execute();
      if (!(await takeBytes(db, sizeBytes, quotaBytes))) throw quotaReached();
      await file.stored(transaction, upload);
    },
    file.lock,
    { isBatchFirst: false },
  );
}

function quotaReached(): ProtocolError {
  return new ProtocolError('REALM_UPLOAD_QUOTA');
}
