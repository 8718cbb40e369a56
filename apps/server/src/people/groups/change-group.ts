import type { ServerContext } from '../../context.js';
import type { Requester } from '../../platform/authentication/authenticate.js';
import type { KnownUser } from '../../platform/authentication/credential-store.js';
import type { ServerTransaction } from '../../tables.js';
import { lockGroups } from '../permissions/lock-groups.js';
import { applyGroupChange, eventsOfChange, type GroupChange } from './group-change.js';
import { type FactsAsked, type GroupFacts, readGroupFacts } from './group-facts.js';
import { writeGroup } from './group-record.js';
import { listGroups } from './group-store.js';

/**
 * Changes a group as decided by `plan`, and publishes events to all users, in one transaction. `rows` is the maximum
 * number of members that the change adds or removes. Default: the number of `userIds`.
 * @throws any error that `plan` throws.
 */
export async function changeGroup(
  { publish }: Pick<ServerContext, 'publish'>,
  actor: Requester,
  { rows, ...asked }: Omit<FactsAsked, 'actor'> & { readonly rows?: number },
  plan: (facts: GroupFacts, transaction: ServerTransaction) => GroupChange | Promise<GroupChange>,
): Promise<void> {
  const work = async (transaction: ServerTransaction, locked: KnownUser) => {
    const facts = await readGroupFacts(transaction, { ...asked, actor: locked });
    const change = await plan(facts, transaction);
    await applyGroupChange(transaction.db, change);
    const wasActive = facts.group?.isActive ?? false;
    const isReactivated = !wasActive && change.isActive === true;
    const [reactivated] = isReactivated ? await listGroups(transaction.db, [change.groupId]) : [];
    const notified = eventsOfChange(change, {
      wasActive,
      reactivated: reactivated && writeGroup(reactivated),
    });
    await publish(
      transaction,
      notified.map((each) => ({ ...each, audience: 'everyone' as const })),
    );
  };
  await actor.changeMany(rows ?? asked.userIds.length, work, lockGroups);
}
