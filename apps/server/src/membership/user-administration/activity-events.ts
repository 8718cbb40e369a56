import type { ServerContext } from '../../context.js';
import { eventsOfPeerActivity } from '../../conversations/channels/peer-events.js';
import { eventsOfMemberActivity } from '../../people/groups/member-events.js';
import { eventOfActivity } from '../../people/users/user-events.js';
import type { User } from '../../people/users/user-store.js';
import type { ServerTransaction } from '../../tables.js';

/**
 * Publishes the events for deactivated or reactivated users, and for their group and channel memberships. Events
 * about a user go to the active users who can see that user.
 */
export async function publishActivity(
  { publish }: Pick<ServerContext, 'publish'>,
  transaction: ServerTransaction,
  users: readonly Pick<User, 'id' | 'isBot'>[],
  isActive: boolean,
): Promise<void> {
  const { db } = transaction;
  const ids = users.map(({ id }) => id);
  for (const user of users) await publish(transaction, eventOfActivity(db, user, isActive));
  const members = await eventsOfMemberActivity(db, isActive ? 'add_members' : 'remove_members', ids);
  await publish(
    transaction,
    members.map((each) => ({ ...each, audience: 'everyone' as const })),
  );
  await publish(transaction, eventsOfPeerActivity(db, isActive ? 'peer_add' : 'peer_remove', ids));
}
