import { jsonParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { human } from '../../platform/authentication/authenticate.js';
import { profileValues } from '../profile-fields/profile-value-parameter.js';
import { changeOwnProfile } from './change-own-profile.js';

/**
 * `PATCH /api/v1/users/me/profile_data`: changes values of the requester's own profile. Atomic. An empty value removes
 * the entry. Publishes an event for each changed value to users who can see the requester. Errors: BAD_REQUEST for
 * bots, unknown fields, a field that is listed twice, a field that only administrators can change, and a value that
 * does not fit the field's type.
 */
export const updateOwnProfile = operation({
  method: 'PATCH',
  path: '/api/v1/users/me/profile_data',
  summary: "Updates values of the requester's profile.",
  actor: human,
  parameters: z.object({ data: jsonParameter(profileValues) }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters: { data } }) {
    await changeOwnProfile(context, actor, data);
    return {};
  },
});
