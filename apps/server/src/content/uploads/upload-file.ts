import { noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { maximumUploadMib, mebibyte } from '../../people/realm/realm-limits.js';
import { user } from '../../platform/authentication/authenticate.js';
import { attachmentEvents } from './attachment-record.js';
import { keepFile } from './keep-file.js';
import { refuseTooLarge, requireFile } from './required-file.js';
import { findUploads } from './upload-store.js';

/**
 * `POST /api/v1/user_uploads`: stores the single file in a multipart form, under any field name, and returns its path
 * on this server. The file is durable before the server responds. Notifies the owner's clients. Until a message
 * refers to the file, only its owner can read it. If no message refers to it for four weeks, it is removed. Errors:
 * BAD_REQUEST unless there is exactly one file of an allowed size; REALM_UPLOAD_QUOTA if it exceeds the
 * organization's quota.
 */
export const uploadFile = operation({
  method: 'POST',
  path: '/api/v1/user_uploads',
  summary: 'Uploads a file that messages can link to.',
  actor: user,
  body: 'file',
  bodyLimitBytes: maximumUploadMib * mebibyte,
  parameters: noParameters,
  answer: z.object({ uri: z.string(), url: z.string(), filename: z.string() }),
  codes: ['BAD_REQUEST', 'REALM_UPLOAD_QUOTA'],
  async handle(context: ServerContext, { actor, file: given }) {
    const file = requireFile(given);
    const { fileName, pathId } = await keepFile(context, actor, {
      name: file.name,
      contentType: checkedType(file.contentType),
      content: file.content,
      isAvatar: false,
      async stored(transaction, { id }) {
        const { db } = transaction;
        await context.publish(transaction, await attachmentEvents(db, 'add', await findUploads(db, [id])));
      },
    }).catch(refuseTooLarge(maximumUploadMib));
    const url = `/user_uploads/${pathId}`;
    return { uri: url, url, filename: fileName };
  },
});

/**
 * Returns the declared media type in lower case, without parameters. Returns `application/octet-stream` if the type is
 * missing or invalid.
 */
function checkedType(given: string): string {
  const [type = ''] = given.toLowerCase().split(';');
  return /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,60}$/.test(type.trim())
    ? type.trim()
    : 'application/octet-stream';
}
