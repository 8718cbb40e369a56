import { anyone, noAnswer, operation } from '@waxwing/service/http';
import type { ServerContext } from '../../context.js';
import { fileAnswer } from '../uploads/file-answer.js';
import { noSuchFile } from '../uploads/no-such-file.js';
import { pathIdOf, uploadPath, uploadPathParameters } from '../uploads/upload-path.js';
import { findAvatar } from '../uploads/upload-store.js';
import { avatarAddress } from './change-avatar.js';

/**
 * `GET /user_avatars/…`: returns a user's avatar. Requires no credentials: clients load images without them, and the
 * URL cannot be guessed. The URL works until the avatar is replaced or removed. Errors: NOT_FOUND for any other URL.
 */
export const getAvatar = operation({
  method: 'GET',
  path: avatarAddress(uploadPath),
  summary: "Returns a user's avatar.",
  actor: anyone,
  parameters: uploadPathParameters,
  answer: noAnswer,
  answerType: '*/*',
  codes: ['NOT_FOUND'],
  async handle({ database: { db }, uploads: { store } }: ServerContext, { head, parameters }) {
    const avatar = await findAvatar(db, pathIdOf(parameters));
    if (avatar === undefined) throw noSuchFile();
    // Immutable: a path is never reused for another picture.
    return fileAnswer(store, avatar, head, 'private, max-age=604800, immutable');
  },
});
