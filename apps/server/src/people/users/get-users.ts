import type { UserId } from '@waxwing/protocol';
import { ListAnswer, operation, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { possibleIdList } from '../permissions/id-lists.js';
import { readProfileData } from '../profile-fields/profile-values.js';
import { detailsInPieces } from './user-details.js';
import { userOrSpectator } from './user-or-spectator.js';
import { avatarAlias, recordParameters } from './user-parameters.js';
import { userRecord, writeUser } from './user-record.js';
import { readVisibilityOf } from './user-visibility.js';

/**
 * `GET /api/v1/users` (docs/chat-api.md, section 7): the users and bots that the reader can see, including
 * deactivated ones, ordered by id. `user_ids` limits the list; unknown ids are left out. Needs no credentials in
 * organizations with public access. Streams the list in pages; each page is current when it is read.
 */
export const getUsers = operation({
  method: 'GET',
  path: '/api/v1/users',
  summary: 'The users and bots of the organization.',
  actor: userOrSpectator,
  parameters: z.object({ user_ids: optionalJsonParameter(possibleIdList), ...recordParameters }),
  aliases: avatarAlias,
  since: { user_ids: 384 },
  answer: z.object({ members: z.array(userRecord) }),
  codes: [],
  async handle({ database, realm }: ServerContext, { actor: reader, parameters }) {
    const { user_ids: ids, client_external_avatar, include_custom_profile_fields } = parameters;
    const options = { reader, realm, clientMakesAvatars: client_external_avatar };
    const sees = await readVisibilityOf(database.db, reader);
    async function* pieces() {
      for await (const users of detailsInPieces(database.db, ids as UserId[] | undefined)) {
        const seen = users.filter((each) => sees(each));
        const seenIds = seen.map(({ id }) => id);
        const profileDataOf =
          reader !== undefined && include_custom_profile_fields
            ? await readProfileData(database.db, seenIds)
            : undefined;
        yield seen.map((each) => writeUser(each, { ...options, profileDataOf }));
      }
    }
    return new ListAnswer('members', pieces(), {});
  },
});
