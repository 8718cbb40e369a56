import { noAnswer, operation } from '@waxwing/service/http';
import type { ServerContext } from '../context.js';
import { userOrSpectator } from '../users/user-or-spectator.js';
import { fileAnswer } from './file-answer.js';
import { requireReadableUpload } from './readable-upload.js';
import { pathIdOf, uploadPath, uploadPathParameters } from './upload-path.js';

/**
 * `GET /user_uploads/…`: a file, or the part of it that is asked for, for its owner and for whoever may read a message
 * that refers to it; where the organisation has public access, for anybody where that is a web-public channel. Refuses
 * with NOT_FOUND everything else, alike.
 */
export const getUpload = operation({
  method: 'GET',
  path: `/user_uploads/${uploadPath}`,
  summary: 'Answers an uploaded file.',
  actor: userOrSpectator,
  parameters: uploadPathParameters,
  answer: noAnswer,
  answerType: '*/*',
  codes: ['NOT_FOUND'],
  async handle({ database: { db }, uploads: { store } }: ServerContext, { actor, head, parameters }) {
    return fileAnswer(store, await requireReadableUpload(db, actor, pathIdOf(parameters)), head);
  },
});
