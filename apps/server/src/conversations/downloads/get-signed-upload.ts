import type { UserId } from '@waxwing/protocol';
import { anyone, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { fileAnswer } from '../../content/uploads/file-answer.js';
import { noSuchFile } from '../../content/uploads/no-such-file.js';
import { findUploadById } from '../../content/uploads/upload-store.js';
import type { ServerContext } from '../../context.js';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import { spectator } from '../../people/permissions/spectator.js';
import { hasPublicAccess } from '../../people/realm/public-access.js';
import { readRealmSettings } from '../../people/realm/realm-setting-store.js';
import { findUserById } from '../../people/users/user-store.js';
import { requireReadable } from './readable-upload.js';
import { openSignedFile } from './signed-address.js';

/**
 * `GET /user_uploads/temporary/…`: returns a file by a temporary URL from `GET /api/v1/user_uploads/…`. The URL works
 * until it expires, as long as the user who requested it may read the file. Errors: NOT_FOUND for all other URLs,
 * including expired ones.
 */
export const getSignedUpload = operation({
  method: 'GET',
  path: '/user_uploads/temporary/{token}/{file_name}',
  summary: 'Returns an uploaded file by its temporary URL.',
  actor: anyone,
  // The name in the URL is only the suggested name for saving the file.
  parameters: z.object({ token: z.string(), file_name: z.string() }),
  answer: noAnswer,
  answerType: '*/*',
  codes: ['NOT_FOUND'],
  async handle(context: ServerContext, { head, parameters: { token } }) {
    const { clock, database, uploads } = context;
    const signed = openSignedFile(uploads.signingKey, token, clock());
    if (signed === undefined) throw noSuchFile();
    const reader = await readerNow(context, signed.readerId);
    const upload = await findUploadById(database.db, signed.fileId);
    return fileAnswer(uploads.store, await requireReadable(database.db, reader, upload), head);
  },
});

/**
 * Returns the current state of the user who requested the URL. Returns `undefined` for an unauthenticated client.
 * @throws ProtocolError NOT_FOUND for a deactivated user, and for unauthenticated clients if public access has been
 * disabled.
 */
async function readerNow(context: ServerContext, id: UserId): Promise<PermissionHolder | undefined> {
  const { db } = context.database;
  if (id !== spectator.id) {
    const user = await findUserById(db, id);
    if (user === undefined) throw noSuchFile();
    return user;
  }
  if (!hasPublicAccess(context, await readRealmSettings(db))) throw noSuchFile();
  return undefined;
}
