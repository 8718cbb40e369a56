import type { Kysely } from 'kysely';
import { eventsOfPeerActivity } from '../../conversations/channels/peer-events.js';
import { eventsOfMemberActivity } from '../../people/groups/member-events.js';
import { eventsOfActivity } from '../../people/users/user-events.js';
import type { User } from '../../people/users/user-store.js';
import { allActiveUserIds } from '../../platform/event-queues/all-active-users.js';
import type { PublishedEvent } from '../../platform/event-queues/publish-events.js';
import type { ServerTables } from '../../tables.js';

/**
 * The events for deactivated or reactivated users, and for their group and channel memberships. Each goes to the
 * active users who can see its subject.
 */
export async function eventsOfActivityEverywhere(
  db: Kysely<ServerTables>,
  users: readonly Pick<User, 'id' | 'isBot'>[],
  isActive: boolean,
): Promise<PublishedEvent[]> {
  const ids = users.map(({ id }) => id);
  const audience = await allActiveUserIds(db);
  const members = await eventsOfMemberActivity(db, isActive ? 'add_members' : 'remove_members', ids);
  return [
    ...(await eventsOfActivity(db, users, isActive)),
    ...members.map((each) => ({ ...each, audience })),
    ...(await eventsOfPeerActivity(db, isActive ? 'peer_add' : 'peer_remove', ids)),
  ];
}
