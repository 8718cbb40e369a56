import { noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { shownAddress } from '../../people/users/address-visibility.js';
import { writePicture } from '../../people/users/avatar.js';
import { lockOwnDetails } from '../../people/users/user-details.js';
import { user } from '../../platform/authentication/authenticate.js';
import { tryRemoveLeftFile } from '../uploads/withdraw-uploads.js';
import { changeAvatar } from './change-avatar.js';

/**
 * `DELETE /api/v1/users/me/avatar`: removes the requester's uploaded avatar and returns the URL of the avatar
 * provider's picture. Publishes an event to users who can see the requester. Idempotent: succeeds without an uploaded
 * avatar.
 */
export const deleteAvatar = operation({
  method: 'DELETE',
  path: '/api/v1/users/me/avatar',
  summary: "Deletes the requester's uploaded avatar.",
  actor: user,
  parameters: noParameters,
  answer: z.object({ avatar_url: z.string() }),
  codes: [],
  async handle(context: ServerContext, { actor }) {
    const { user, withdrawn } = await actor.change(
      async (transaction) =>
        changeAvatar(transaction, await lockOwnDetails(transaction, actor), undefined, context),
      async (transaction) => {
        await lockOwnDetails(transaction, actor);
      },
      { isBatchFirst: false },
    );
    for (const old of withdrawn) await tryRemoveLeftFile(context, old);
    const { avatar_url } = writePicture(shownAddress(user, context.realm), user);
    return { avatar_url };
  },
});
