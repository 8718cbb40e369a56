import { operation } from '@waxwing/service/http';
import { z } from 'zod';
import { pathIdOf, uploadPath, uploadPathParameters } from '../../content/uploads/upload-path.js';
import type { ServerContext } from '../../context.js';
import { spectator } from '../../people/permissions/spectator.js';
import { userOrSpectator } from '../../people/users/user-or-spectator.js';
import { requireReadableUpload } from './readable-upload.js';
import { addressLifetimeMilliseconds, signFile } from './signed-address.js';

/**
 * `GET /api/v1/user_uploads/…`: returns a temporary URL of a file. The URL works without credentials for one minute, as
 * long as the actor may read the file. It is for programs that cannot send credentials, such as a browser that opens a
 * link. Errors: NOT_FOUND in the same cases as `GET /user_uploads/…`.
 */
export const getUploadAddress = operation({
  method: 'GET',
  path: `/api/v1/user_uploads/${uploadPath}`,
  summary: 'Returns a temporary URL of an uploaded file, valid for one minute without credentials.',
  actor: userOrSpectator,
  parameters: uploadPathParameters,
  answer: z.object({ url: z.string() }),
  codes: ['NOT_FOUND'],
  async handle({ clock, database: { db }, uploads }: ServerContext, { actor, parameters }) {
    const { id: fileId, pathId } = await requireReadableUpload(db, actor, pathIdOf(parameters));
    const signed = { fileId, readerId: actor?.id ?? spectator.id };
    const token = signFile(uploads.signingKey, signed, clock() + addressLifetimeMilliseconds);
    return { url: `/user_uploads/temporary/${token}/${encodeURIComponent(pathId.split('/').at(-1) ?? '')}` };
  },
});
