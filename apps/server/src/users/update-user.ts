import { ProtocolError } from '@waxwing/protocol';
import { integerParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { holdUser, user } from '../authentication/authenticate.js';
import type { KnownUser } from '../authentication/credential-store.js';
import type { ServerContext } from '../context.js';
import { roles } from '../permissions/roles.js';
import type { ServerTransaction } from '../tables.js';
import { noSuchUser } from './no-such-user.js';
import { planUserUpdate } from './plan-user-update.js';
import { applyUserChange, eventsOfUserChange } from './user-change.js';
import { findDetails, lockDetails, type UserDetails, type UserName } from './user-details.js';
import { holdUsers, readUserFacts } from './user-facts.js';
import { readUserName, userNameParameter } from './user-parameters.js';

/**
 * `PATCH /api/v1/users/{email}` (chat API, section 4) and `PATCH /api/v1/users/{user_id}`: an administrator changes a
 * user's or bot's name, role and address; all of it or nothing. An address finds a user as for reading it. Whoever may know
 * of it is told what is another now. Refuses with BAD_REQUEST whoever is no administrator, unknown users, bad names, roles
 * and addresses, those that are taken, another role for the only owner, and a new address from anybody but owners who have
 * the special permission; with UNAUTHORIZED_PRINCIPAL the owner role given or taken by anybody but an owner.
 */
export const updateUser = operation({
  method: 'PATCH',
  path: '/api/v1/users/{user_id_or_email}',
  summary: "Changes a user's or bot's name, role or e-mail address.",
  actor: user,
  parameters: z.object({
    user_id_or_email: userNameParameter,
    full_name: z.string().optional(),
    role: integerParameter.optional(),
    new_email: z.string().optional(),
  }),
  answer: noAnswer,
  codes: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
  async handle({ clock, database, publish, realm }: ServerContext, { actor, parameters }) {
    const { full_name: fullName, role, new_email: email } = parameters;
    const name = readUserName(parameters.user_id_or_email, realm);
    const wish = { fullName, role, email };
    const now = clock();
    await database.write(async (transaction) => {
      await holdUsers(transaction.db);
      const { administrator, target } = await lockBoth(transaction, actor, name);
      const facts = await readUserFacts(transaction, { actor: administrator, target, realm }, wish);
      const change = planUserUpdate(facts, wish);
      const done = await applyUserChange(transaction, target, change, now);
      await publish(transaction, await eventsOfUserChange(transaction.db, { change, ...done, realm }));
    });
    return {};
  },
});

interface Both {
  readonly administrator: UserDetails;
  readonly target: UserDetails;
}

/** Nothing is looked up for whoever is no administrator, so that it learns nothing about addresses. */
async function lockBoth(transaction: ServerTransaction, actor: KnownUser, name: UserName): Promise<Both> {
  const held = await holdUser(transaction, actor);
  if (held.role > roles.administrator) {
    throw new ProtocolError('BAD_REQUEST', { message: 'Insufficient permission' });
  }
  const administrator = await findDetails(transaction.db, { kind: 'id', id: held.id }, held);
  const target = await lockDetails(transaction, name, held);
  if (administrator === undefined || target === undefined) throw noSuchUser();
  return { administrator, target };
}
