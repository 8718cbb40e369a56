import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { ProtocolError } from '@waxwing/protocol';
import { noParameters, operation, type UploadedFile } from '@waxwing/service/http';
import { z } from 'zod';
import { type Requester, user } from '../authentication/authenticate.js';
import type { ServerContext } from '../context.js';
import { maximumUploadMib } from '../realm/realm-limits.js';
import { attachmentEvents } from './attachment-record.js';
import { cleanFileName, shownFileName } from './file-name.js';
import { readUsedBytes, takeBytes } from './upload-account.js';
import { findUploads } from './upload-store.js';
import { isStoredUpload, removeLeftFile } from './withdraw-uploads.js';

const mebibyte = 1024 * 1024;
/** What stands for the organisation in paths: a server has one. */
const realmId = 1;

/**
 * `POST /api/v1/user_uploads`: keeps the one file of a multipart form, under whatever name of a field, and answers its
 * path on this server. It is durable before the answer; the owner's queues are told. Until a message refers to it, its
 * owner alone reads it, and after some weeks it is removed. Refuses with BAD_REQUEST no file, several, and one that is too
 * large; with REALM_UPLOAD_QUOTA what the organisation has no room for.
 */
export const uploadFile = operation({
  method: 'POST',
  path: '/api/v1/user_uploads',
  summary: 'Keeps a file that messages can refer to.',
  actor: user,
  body: 'file',
  bodyLimitBytes: maximumUploadMib * mebibyte,
  parameters: noParameters,
  answer: z.object({ uri: z.string(), url: z.string(), filename: z.string() }),
  codes: ['BAD_REQUEST', 'REALM_UPLOAD_QUOTA'],
  async handle(context: ServerContext, { actor, file }) {
    if (file === undefined) {
      throw new ProtocolError('BAD_REQUEST', { message: 'You must specify a file to upload' });
    }
    const { fileName, pathId } = await keepFile(context, actor, file);
    const url = `/user_uploads/${pathId}`;
    return { uri: url, url, filename: fileName };
  },
});

interface NewUpload {
  readonly id: number;
  readonly pathId: string;
  readonly fileName: string;
  readonly contentType: string;
}

async function keepFile(context: ServerContext, actor: Requester, file: UploadedFile): Promise<NewUpload> {
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
    await complete(context, actor, { upload, sizeBytes });
    return upload;
  } catch (error) {
    // The commit may have happened, and its answer be lost: what others may see by now is kept.
    if (await isStoredUpload(context, upload)) return upload;
    await removeLeftFile(context, upload);
    throw sayTooLarge(error);
  }
}

/** The row comes before the file, so that whatever is left of one whose upload breaks off is found and removed. */
async function announce(
  { clock, database, uploads }: ServerContext,
  actor: Requester,
  { contentType, name }: UploadedFile,
): Promise<NewUpload> {
  const { quotaBytes } = uploads;
  if (quotaBytes !== undefined && (await readUsedBytes(database.db)) >= quotaBytes) throw quotaReached();
  const random = randomBytes(18).toString('base64url');
  const folder = randomBytes(1).toString('hex');
  const pathId = `${realmId}/${folder}/${random}/${cleanFileName(name)}`;
  const upload = { pathId, fileName: shownFileName(name), contentType: checkedType(contentType) };
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
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  );
  return { id, ...upload };
}

interface Completed {
  readonly upload: NewUpload;
  readonly sizeBytes: number;
}

function complete(
  { publish, uploads: { quotaBytes } }: ServerContext,
  actor: Requester,
  { upload: { id }, sizeBytes }: Completed,
): Promise<void> {
  return actor.change(async (transaction) => {
    const { db } = transaction;
    await db
      .updateTable('attachments')
      .set({ is_stored: 1, size_bytes: sizeBytes })
      .where('id', '=', id)
      .execute();
    if (!(await takeBytes(db, sizeBytes, quotaBytes))) throw quotaReached();
    await publish(transaction, await attachmentEvents(db, 'add', await findUploads(db, [id])));
  });
}

/** What the requester says the file is, in lower case and without parameters; bytes of any kind where it says nothing that can be. */
function checkedType(given: string): string {
  const [type = ''] = given.toLowerCase().split(';');
  return /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,60}$/.test(type.trim())
    ? type.trim()
    : 'application/octet-stream';
}

function quotaReached(): ProtocolError {
  return new ProtocolError('REALM_UPLOAD_QUOTA');
}

function sayTooLarge(error: unknown): unknown {
  if (!(error instanceof ProtocolError) || error.code !== 'PAYLOAD_TOO_LARGE') return error;
  return new ProtocolError('BAD_REQUEST', {
    message: `The file is larger than ${maximumUploadMib} MiB, which is the most that this server takes`,
  });
}
