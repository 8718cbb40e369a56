import type { Requester } from '../authentication/authenticate.js';
import { isAdministrator } from '../authentication/require-administrator.js';
import type { ServerContext } from '../context.js';
import { type ProfileValueWish, planProfileValues } from '../profile-fields/plan-profile-values.js';
import { applyProfileValues, readValueFacts } from '../profile-fields/profile-values.js';
import { readersOf } from './user-sight.js';

/**
 * Changes the requester's own profile values and publishes events to users who can see the requester, in one
 * transaction.
 * @throws ProtocolError BAD_REQUEST with the reason for a refusal.
 */
export async function changeOwnProfile(
  { publish, realm }: Pick<ServerContext, 'publish' | 'realm'>,
  actor: Requester,
  wishes: readonly ProfileValueWish[],
): Promise<void> {
  await actor.change(async (transaction, held) => {
    const owner = { userId: held.id, mayEditAll: isAdministrator(held.role) };
    const values = planProfileValues(await readValueFacts(transaction, owner, wishes), wishes);
    const events = await applyProfileValues(transaction, held.id, values, realm.url);
    if (events.length === 0) return;
    const audience = await readersOf(transaction.db, held);
    await publish(
      transaction,
      events.map((event) => ({ event, audience })),
    );
  });
}
