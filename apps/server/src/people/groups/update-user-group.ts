import { refused } from '@waxwing/protocol';
import { booleanParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { nonGuest } from '../../platform/authentication/authenticate.js';
import { permissionRequestParameters, permissionsAmong } from '../permissions/permission-parameters.js';
import { namedIn } from '../permissions/plan-permission.js';
import { changeGroup } from './change-group.js';
import { description, groupIdParameter } from './group-parameters.js';
import { planGroupUpdate } from './plan-group-update.js';

/**
 * `PATCH /api/v1/user_groups/{user_group_id}`: changes a group's name, description and permissions, or reactivates it.
 * Atomic. Publishes events to all users. Errors: BAD_REQUEST for a request without a change, guests, unknown groups,
 * role groups, requesters who cannot manage the group, an invalid or taken name, and permission values that are not
 * allowed; EXPECTATION_MISMATCH if `old` is not the current value of a permission.
 */
export const updateUserGroup = operation({
  method: 'PATCH',
  path: '/api/v1/user_groups/{user_group_id}',
  summary: 'Updates a user group.',
  actor: nonGuest,
  parameters: z.object({
    user_group_id: groupIdParameter,
    name: z.string().optional(),
    description: description.optional(),
    deactivated: booleanParameter.optional(),
    ...permissionRequestParameters('group'),
  }),
  answer: noAnswer,
  codes: ['BAD_REQUEST', 'EXPECTATION_MISMATCH'],
  async handle(context: ServerContext, { actor, parameters }) {
    const { user_group_id: groupId, name, description, deactivated } = parameters;
    const permissions = permissionsAmong('group', parameters);
    const requests = Object.values(permissions).flatMap((requested) => requested ?? []);
    if (requests.length === 0 && [name, description, deactivated].every((value) => value === undefined)) {
      throw refused('No new data supplied');
    }
    const named = namedIn(requests.map((requested) => requested.new));
    await changeGroup(context, actor, { groupId, name: name?.trim(), ...named }, (facts) =>
      planGroupUpdate(facts, { name, description, deactivated, permissions }),
    );
    return {};
  },
});
