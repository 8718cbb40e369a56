import { ProtocolError } from '@waxwing/protocol';
import { noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { user } from '../authentication/authenticate.js';
import type { ServerContext } from '../context.js';
import { maximumAvatarMib, mebibyte } from '../realm/realm-limits.js';
import { keepFile } from '../uploads/keep-file.js';
import { refuseTooLarge, requireFile } from '../uploads/required-file.js';
import type { Upload } from '../uploads/upload-store.js';
import { tryRemoveLeftFile } from '../uploads/withdraw-uploads.js';
import { lockOwnDetails } from '../users/user-details.js';
import { avatarAddress, changeAvatar } from './change-avatar.js';
import { imageHeadBytes, imageTypeOf } from './image-type.js';
import { peekContent } from './peek-content.js';

/**
 * `POST /api/v1/users/me/avatar`: gives whoever asks the picture in a multipart form, under whatever name of a field, and
 * answers its path on this server. It is kept as it came, in the place of the one before, and whoever may know of the user
 * is told. Refuses with BAD_REQUEST no file, several, and more than 5 MiB; with BAD_IMAGE what does not begin as a PNG,
 * JPEG, GIF or WebP does, whatever its sender calls it; with REALM_UPLOAD_QUOTA what the organisation has no room for.
 */
export const uploadAvatar = operation({
  method: 'POST',
  path: '/api/v1/users/me/avatar',
  summary: 'Gives whoever asks another picture.',
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
      // Nobody learns what the picture was called on somebody's own machine.
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
