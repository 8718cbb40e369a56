import { jsonParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { human } from '../authentication/authenticate.js';
import type { ServerContext } from '../context.js';
import { possibleIdList } from '../permissions/id-lists.js';
import { changeOwnProfile } from './change-own-profile.js';

/**
 * `DELETE /api/v1/users/me/profile_data`: removes values of one's own profile. All of them or none. Whoever may know of the
 * requester is told of each that there was. Refuses with BAD_REQUEST bots, unknown fields, a field that is there twice,
 * and one that only administrators may change.
 */
export const removeOwnProfileValues = operation({
  method: 'DELETE',
  path: '/api/v1/users/me/profile_data',
  summary: "Removes values of the requester's profile.",
  actor: human,
  parameters: z.object({ data: jsonParameter(possibleIdList) }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters: { data } }) {
    await changeOwnProfile(
      context,
      actor,
      data.map((id) => ({ id, value: null })),
    );
    return {};
  },
});
