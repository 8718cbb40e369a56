import { ProtocolError } from '@waxwing/protocol';
import { noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { maximumAvatarMib, mebibyte } from '../../people/realm/realm-limits.js';
import { lockOwnDetails } from '../../people/users/user-details.js';
import { user } from '../../platform/authentication/authenticate.js';
import { keepFile } from '../uploads/keep-file.js';
import { refuseTooLarge, requireFile } from '../uploads/required-file.js';
import type { Upload } from '../uploads/upload-store.js';
import { tryRemoveLeftFile } from '../uploads/withdraw-uploads.js';
import { avatarAddress, changeAvatar } from './change-avatar.js';
import { imageHeadBytes, imageTypeOf } from './image-type.js';
import { peekContent } from './peek-content.js';

/**
 * `POST /api/v1/users/me/avatar`: sets the requester's avatar to the file in a multipart form, under any field name,
 * and returns its path on this server. Stores the bytes unchanged and replaces the old avatar. Publishes an event to
 * users who can see the requester.
 *
 * Errors: BAD_REQUEST unless there is exactly one file, of at most 5 MiB; BAD_IMAGE if the content is not PNG, JPEG,
 * GIF or WebP, regardless of the declared type; REALM_UPLOAD_QUOTA for a file that exceeds the organization's quota.
 */
export const uploadAvatar = operation({
  method: 'POST',
  path: '/api/v1/users/me/avatar',
  summary: "Replaces the requester's avatar.",
  actor: user,
  body: 'file',
  bodyLimitBytes: maximumAvatarMib * mebibyte,
  parameters: noParameters,
  answer: z.object({ avatar_url: z.string() }),
  codes: ['BAD_IMAGE', 'BAD_REQUEST', 'REALM_UPLOAD_QUOTA'],
  async handle(context: ServerContext, { actor, file }) {
    const { content } = requireFile(file);
    const { head, whole } = await peekContent(content, imageHeadBytes).catch(
      refuseTooLarge(maximumAvatarMib),
    );
    const contentType = imageTypeOf(head);
    if (contentType === undefined) {
      whole.destroy();
      throw new ProtocolError('BAD_IMAGE', { message: 'The picture must be a PNG, JPEG, GIF or WebP' });
    }
    let replaced: readonly Upload[] = [];
    const { pathId } = await keepFile(context, actor, {
      // Replaces the original file name, which could reveal private information.
      name: `avatar.${contentType.replace('image/', '')}`,
      contentType,
      content: whole,
      isAvatar: true,
      async lock(transaction) {
        await lockOwnDetails(transaction, actor);
      },
      async stored(transaction, upload) {
        const self = await lockOwnDetails(transaction, actor);
        ({ withdrawn: replaced } = await changeAvatar(transaction, self, upload.pathId, context));
      },
    }).catch(refuseTooLarge(maximumAvatarMib));
    for (const old of replaced) await tryRemoveLeftFile(context, old);
    return { avatar_url: avatarAddress(pathId) };
  },
});
