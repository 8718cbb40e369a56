import type { UserId } from '@waxwing/protocol';
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ServerTables } from '../../tables.js';
import type { Role } from '../authentication/roles.js';
import { isLive } from './event-queue-store.js';

/** An active user with a live event queue: a possible reader of events. */
export interface QueueOwner {
  readonly id: UserId;
  readonly role: Role;
}

/** A selection of the owners of event queues. */
export interface QueueOwnersAsked {
  readonly types: readonly string[];
  /** An SQL condition on rows of `users`. Omitted for all users. */
  readonly candidates?: RawBuilder<SqlBool> | undefined;
}

/** Returns the active users with a live queue for any of these event types, in ascending order. */
export async function readQueueOwners(
  db: Kysely<ServerTables>,
  { types, candidates = sql<SqlBool>`1 = 1` }: QueueOwnersAsked,
  now: number,
): Promise<QueueOwner[]> {
  // `cross join` makes SQLite start with the queues, which are few, instead of the users.
  const { rows } = await sql<QueueOwner>`
    select distinct users.id, users.role
    from event_queues cross join users
    where users.id = event_queues.user_id and users.is_active = 1 and ${isLive(now)}
      and ${asksFor(types)} and ${candidates}
    order by users.id`.execute(db);
  return rows;
}

/**
 * Returns an SQL condition on rows of `event_queues` that selects all queues that request one of these types, and
 * possibly other queues. The caller must check the types exactly.
 */
export function asksFor(types: readonly string[]): RawBuilder<SqlBool> {
  // The column contains a JSON array of types, so the quoted type matches only a whole element.
  const conditions = [...new Set(types)].map((type) => sql`event_types like ${`%${JSON.stringify(type)}%`}`);
  return sql<SqlBool>`(event_types is null or ${sql.join(conditions, sql` or `)})`;
}
