import { jsonParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { human } from '../authentication/authenticate.js';
import type { ServerContext } from '../context.js';
import { profileValues } from '../profile-fields/profile-value-parameter.js';
import { changeOwnProfile } from './change-own-profile.js';

/**
 * `PATCH /api/v1/users/me/profile_data`: changes values of one's own profile; an empty one is removed. All of them or none.
 * Whoever may know of the requester is told of each that is another now. Refuses with BAD_REQUEST bots, unknown fields,
 * a field that is there twice, one that only administrators may change, and what is none of the field's type.
 */
export const updateOwnProfile = operation({
  method: 'PATCH',
  path: '/api/v1/users/me/profile_data',
  summary: "Changes values of the requester's profile.",
  actor: human,
  parameters: z.object({ data: jsonParameter(profileValues) }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters: { data } }) {
    await changeOwnProfile(context, actor, data);
    return {};
  },
});
