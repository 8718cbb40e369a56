import { noAnswer, operation } from '@waxwing/service/http';
import { fileAnswer } from '../../content/uploads/file-answer.js';
import { pathIdOf, uploadPath, uploadPathParameters } from '../../content/uploads/upload-path.js';
import type { ServerContext } from '../../context.js';
import { userOrSpectator } from '../../people/users/user-or-spectator.js';
import { requireReadableUpload } from './readable-upload.js';

/**
 * `GET /user_uploads/…`: returns a file or the requested range of it. A file is readable for its owner, and for all
 * users who may read a message that refers to it. If the organization has public access, unauthenticated clients may
 * read files in web-public channels. Errors: NOT_FOUND, with the same message for missing and for unreadable files.
 */
export const getUpload = operation({
  method: 'GET',
  path: `/user_uploads/${uploadPath}`,
  summary: 'Returns an uploaded file.',
  actor: userOrSpectator,
  parameters: uploadPathParameters,
  answer: noAnswer,
  answerType: '*/*',
  codes: ['NOT_FOUND'],
  async handle({ database: { db }, uploads: { store } }: ServerContext, { actor, head, parameters }) {
    return fileAnswer(store, await requireReadableUpload(db, actor, pathIdOf(parameters)), head);
  },
});
