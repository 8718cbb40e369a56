import { jsonParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { human } from '../../platform/authentication/authenticate.js';
import { possibleIdList } from '../permissions/id-lists.js';
import { changeOwnProfile } from './change-own-profile.js';

/**
 * `DELETE /api/v1/users/me/profile_data`: removes values of the requester's own profile. Atomic. Publishes an event for
 * each removed value to users who can see the requester. Errors: BAD_REQUEST for bots, unknown fields, a field that is
 * listed twice, and a field that only administrators can change.
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
