import { refused } from '@waxwing/protocol';
import { integerParameter, noAnswer, operation, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { lockGroups } from '../../people/permissions/lock-groups.js';
import {
  type ProfileValueRequest,
  planProfileValues,
} from '../../people/profile-fields/plan-profile-values.js';
import { profileValues } from '../../people/profile-fields/profile-value-parameter.js';
import {
  applyProfileValues,
  type ProfileEvent,
  readValueFacts,
} from '../../people/profile-fields/profile-values.js';
import { lockBoth } from '../../people/users/lock-both.js';
import { planUserUpdate } from '../../people/users/plan-user-update.js';
import { applyUserChange, eventsOfUserChange } from '../../people/users/user-change.js';
import type { UserDetails } from '../../people/users/user-details.js';
import { eventsForSeeing } from '../../people/users/user-events.js';
import { readUserFacts } from '../../people/users/user-facts.js';
import { readUserName, userNameParameter } from '../../people/users/user-parameters.js';
import { user } from '../../platform/authentication/authenticate.js';
import type { ServerTransaction } from '../../tables.js';
import { limitToRole } from './limit-to-role.js';

/**
 * `PATCH /api/v1/users/{email}` (docs/chat-api.md, section 4) and `PATCH /api/v1/users/{user_id}`: an administrator
 * changes the name, role, address and profile of a user or bot. Atomic. Finds the user by email address as `getUser`
 * does. Publishes events to users who can see the target. A demotion also revokes the user's invitations with a higher
 * role and lowers the role of the user's bots. Errors:
 *
 * - BAD_REQUEST if the requester is not an administrator, the user is unknown, a value is invalid or taken, or the
 *   change would demote the only owner or promote a guest to administrator or owner; also for a new address, unless the
 *   requester is an owner with the special permission to change addresses
 * - UNAUTHORIZED_PRINCIPAL if the requester is not an owner and grants or removes the owner role
 */
export const updateUser = operation({
  method: 'PATCH',
  path: '/api/v1/users/{user_id_or_email}',
  summary: "Updates a user's or bot's name, role, e-mail address or profile.",
  actor: user,
  parameters: z.object({
    user_id_or_email: userNameParameter,
    full_name: z.string().optional(),
    role: integerParameter.optional(),
    profile_data: optionalJsonParameter(profileValues),
    new_email: z.string().optional(),
  }),
  answer: noAnswer,
  codes: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
  async handle(context: ServerContext, { actor, parameters }) {
    const { clock, publish, realm } = context;
    const { full_name: fullName, role, new_email: email, profile_data: values = [] } = parameters;
    const name = readUserName(parameters.user_id_or_email, realm);
    const requested = { fullName, role, email };
    const now = clock();
    await actor.change(async (transaction, locked) => {
      const { administrator, target } = await lockBoth(transaction, locked, name);
      const facts = await readUserFacts(transaction, { actor: administrator, target, realm }, requested);
      const change = planUserUpdate(facts, requested);
      const profileEvents = await changeProfile(transaction, target, values, realm.url);
      const done = await applyUserChange(transaction, target, change, now);
      await publish(transaction, eventsForSeeing(transaction.db, target, profileEvents));
      await publish(transaction, eventsOfUserChange(transaction.db, { change, ...done, realm }));
      if (done.after.role > target.role) await limitToRole(context, transaction, done.after);
    }, lockGroups);
    return {};
  },
});

/** Applies the profile changes and returns the events to publish. */
async function changeProfile(
  transaction: ServerTransaction,
  { id: userId, isBot }: UserDetails,
  requests: readonly ProfileValueRequest[],
  realmUrl: string,
): Promise<ProfileEvent[]> {
  if (requests.length === 0) return [];
  if (isBot) throw refused('Bots have no custom profile data.');
  const facts = await readValueFacts(transaction, { userId, mayEditAll: true }, requests);
  return applyProfileValues(transaction, userId, planProfileValues(facts, requests), realmUrl);
}
