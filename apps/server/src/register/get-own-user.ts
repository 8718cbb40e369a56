import { noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../context.js';
import { newestMessageId } from '../conversations/messages/newest-message.js';
import { readProfileData } from '../people/profile-fields/profile-values.js';
import { ownDetails } from '../people/users/user-details.js';
import { userRecord, writeUser } from '../people/users/user-record.js';
import { user } from '../platform/authentication/authenticate.js';

/**
 * `GET /api/v1/users/me`: returns the actor's own user, with its real email address and avatar URL, and the id of the
 * newest message that the actor may read.
 */
export const getOwnUser = operation({
  method: 'GET',
  path: '/api/v1/users/me',
  summary: 'Returns the user or bot that sends the request.',
  actor: user,
  parameters: noParameters,
  answer: userRecord.extend({ max_message_id: z.number().int() }),
  codes: [],
  async handle({ database: { db }, realm }: ServerContext, { actor: reader }) {
    const own = await ownDetails(db, reader);
    const profileDataOf = await readProfileData(db, [reader.id]);
    const options = { reader, realm, clientMakesAvatars: false, profileDataOf };
    return { ...writeUser(own, options), max_message_id: await newestMessageId(db, reader) };
  },
});
