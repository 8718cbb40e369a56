import { operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../../platform/authentication/authenticate.js';
import { readProfileData } from '../profile-fields/profile-values.js';
import { noSuchUser } from './no-such-user.js';
import { findDetails } from './user-details.js';
import { avatarAlias, readUserName, recordParameters, userNameParameter } from './user-parameters.js';
import { userRecord, writeUser } from './user-record.js';
import { readVisibilityOf } from './user-visibility.js';

/**
 * `GET /api/v1/users/{user_id}` and `GET /api/v1/users/{email}`: returns one user or bot. The address is the real
 * address if the requester can see it, otherwise the dummy address. Errors: BAD_REQUEST if the user does not exist or
 * the requester cannot see it.
 */
export const getUser = operation({
  method: 'GET',
  path: '/api/v1/users/{user_id_or_email}',
  summary: 'Returns a user or bot, by id or e-mail address.',
  actor: user,
  parameters: z.object({ user_id_or_email: userNameParameter, ...recordParameters }),
  aliases: avatarAlias,
  answer: z.object({ user: userRecord }),
  codes: ['BAD_REQUEST'],
  async handle({ database: { db }, realm }: ServerContext, { actor: reader, parameters }) {
    const found = await findDetails(db, readUserName(parameters.user_id_or_email, realm), reader);
    if (found === undefined) throw noSuchUser();
    const sees = await readVisibilityOf(db, reader, [found.id]);
    if (!sees(found)) throw noSuchUser();
    const options = {
      reader,
      realm,
      clientMakesAvatars: parameters.client_external_avatar,
      profileDataOf: parameters.include_custom_profile_fields
        ? await readProfileData(db, [found.id])
        : undefined,
    };
    return { user: writeUser(found, options) };
  },
});
