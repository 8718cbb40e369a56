import type { ServerContext } from '../../context.js';
import type { Requester } from '../../platform/authentication/authenticate.js';
import { isAdministrator } from '../../platform/authentication/require-administrator.js';
import { type ProfileValueRequest, planProfileValues } from '../profile-fields/plan-profile-values.js';
import { applyProfileValues, readValueFacts } from '../profile-fields/profile-values.js';
import { eventsForSeeing } from './user-events.js';

/**
 * Changes the requester's own profile values and publishes events to users who can see the requester, in one
 * transaction.
 * @throws ProtocolError BAD_REQUEST if the request violates a rule.
 */
export async function changeOwnProfile(
  { publish, realm }: Pick<ServerContext, 'publish' | 'realm'>,
  actor: Requester,
  requests: readonly ProfileValueRequest[],
): Promise<void> {
  await actor.change(async (transaction, locked) => {
    const owner = { userId: locked.id, mayEditAll: isAdministrator(locked.role) };
    const values = planProfileValues(await readValueFacts(transaction, owner, requests), requests);
    const events = await applyProfileValues(transaction, locked.id, values, realm.url);
    if (events.length === 0) return;
    await publish(transaction, eventsForSeeing(transaction.db, locked, events));
  });
}
