import type { UserId } from '@waxwing/protocol';
import { type Kysely, sql } from 'kysely';
import type { ServerTables } from '../../tables.js';
import type { Role } from '../authentication/roles.js';
import { isLive } from './event-queue-store.js';

/** An active user with a live event queue: a possible reader of events. */
export interface QueueOwner {
  readonly id: UserId;
  readonly role: Role;
}

/** The active users with a live queue for any of these event types, in ascending order. */
export async function readQueueOwners(
  db: Kysely<ServerTables>,
  types: readonly string[],
  now: number,
): Promise<QueueOwner[]> {
  // The list is a JSON array, so a quoted type in it is an element.
  const asksFor = types.map((type) => sql<boolean>`event_types like ${`%${JSON.stringify(type)}%`}`);
  const rows = await db
    .selectFrom('event_queues')
    .innerJoin('users', 'users.id', 'event_queues.user_id')
    .where('users.is_active', '=', 1)
    .where(isLive(now))
    .where((is) => is.or([is('event_types', 'is', null), ...asksFor]))
    .select(['users.id', 'users.role'])
    .distinct()
    .orderBy('users.id')
    .execute();
  return rows.map(({ id, role }) => ({ id, role: role as Role }));
}
