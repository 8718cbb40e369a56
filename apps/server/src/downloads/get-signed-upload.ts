import { anybody, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../context.js';
import { findUploadById } from '../uploads/upload-store.js';
import { fileAnswer } from './file-answer.js';
import { noSuchFile } from './readable-upload.js';
import { openSignedFile } from './signed-address.js';

/**
 * `GET /user_uploads/temporary/…`: a file under an address that `GET /api/v1/user_uploads/…` has given, while it is good.
 * Refuses with NOT_FOUND any other, expired ones too.
 */
export const getSignedUpload = operation({
  method: 'GET',
  path: '/user_uploads/temporary/{token}/{file_name}',
  summary: 'Answers an uploaded file under an address that was given for a minute.',
  actor: anybody,
  // The name is for whoever saves the file.
  parameters: z.object({ token: z.string(), file_name: z.string() }),
  answer: noAnswer,
  answerType: '*/*',
  codes: ['NOT_FOUND'],
  async handle({ clock, database: { db }, uploads }: ServerContext, { head, parameters: { token } }) {
    const id = openSignedFile(uploads.signingKey, token, clock());
    const upload = id === undefined ? undefined : await findUploadById(db, id);
    if (upload === undefined) throw noSuchFile();
    return fileAnswer(uploads.store, upload, head);
  },
});
