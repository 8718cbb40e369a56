import { anybody, noAnswer, operation } from '@waxwing/service/http';
import type { ServerContext } from '../context.js';
import { fileAnswer } from '../downloads/file-answer.js';
import { noSuchFile } from '../downloads/readable-upload.js';
import { pathIdOf, uploadPath, uploadPathParameters } from '../downloads/upload-path.js';
import { findAvatar } from '../uploads/upload-store.js';
import { avatarAddress } from './change-avatar.js';

/**
 * `GET /user_avatars/…`: a user's picture, for whoever has its address, as clients load pictures without credentials. Its
 * address cannot be guessed, and is good until the picture is replaced or removed. Refuses with NOT_FOUND any other.
 */
export const getAvatar = operation({
  method: 'GET',
  path: avatarAddress(uploadPath),
  summary: "Answers a user's picture.",
  actor: anybody,
  parameters: uploadPathParameters,
  answer: noAnswer,
  answerType: '*/*',
  codes: ['NOT_FOUND'],
  async handle({ database: { db }, uploads: { store } }: ServerContext, { head, parameters }) {
    const avatar = await findAvatar(db, pathIdOf(parameters));
    if (avatar === undefined) throw noSuchFile();
    // A path is never used for another picture.
    return fileAnswer(store, avatar, head, 'private, max-age=604800, immutable');
  },
});
