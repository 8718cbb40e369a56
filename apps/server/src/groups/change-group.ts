import type { ServerContext } from '../context.js';
import type { ServerTransaction } from '../tables.js';
import { holdUser } from '../users/authenticate.js';
import { requireMember } from '../users/require-member.js';
import { activeUserIds, type KnownUser } from '../users/user-store.js';
import { applyGroupChange, eventsOfChange, type GroupChange } from './group-change.js';
import { type FactsAsked, type GroupFacts, readGroupFacts } from './group-facts.js';

/**
 * Changes a group as `plan` decides on the facts, and tells everybody of it; all in one transaction.
 * @throws ProtocolError BAD_REQUEST for guests and bots, and what `plan` throws.
 */
export async function changeGroup(
  { database, publish }: Pick<ServerContext, 'database' | 'publish'>,
  actor: KnownUser,
  asked: Omit<FactsAsked, 'actor'>,
  plan: (facts: GroupFacts, transaction: ServerTransaction) => GroupChange | Promise<GroupChange>,
): Promise<void> {
  await database.write(async (transaction) => {
    const held = await holdUser(transaction, actor);
    requireMember(held);
    const facts = await readGroupFacts(transaction, { ...asked, actor: held });
    const change = await plan(facts, transaction);
    await applyGroupChange(transaction.db, change);
    const audience = await activeUserIds(transaction.db);
    await publish(
      transaction,
      eventsOfChange(change).map((event) => ({ event, audience })),
    );
  });
}
