import type { UserId } from '@waxwing/protocol';
import { amongNumbers, amongNumbersOf, fixedQuery, lockingRows } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import type { ServerTables } from '../../tables.js';
import { roles } from '../authentication/roles.js';
import { type EventQueueRow, isLive } from './event-queue-store.js';
import { asksFor } from './queue-owners.js';

type Db = Kysely<ServerTables>;

/** A queue with the rights of its owner. */
export type LockedQueue = EventQueueRow & {
  /** Whether the queue gets the messages from all public channels. 0 if its user became a guest. */
  readonly follows_public: number;
  readonly is_owner_active: number;
};

/** The selection of the queues to lock. */
export interface QueuesAsked {
  /** `everyone` means all queues that request any of `types`. */
  readonly userIds: ReadonlySet<UserId> | 'everyone';
  readonly types: readonly string[];
  /** Users whose expired queues are included. */
  readonly leaving: ReadonlySet<UserId>;
  /** Whether to include queues that get the messages from all public channels. */
  readonly hasPublic: boolean;
  readonly now: number;
}

/** Locks the queues of users in a fixed order, so that two transactions cannot deadlock. */
export function lockQueues(
  db: Db,
  { userIds, types, leaving, hasPublic, now }: QueuesAsked,
): Promise<LockedQueue[]> {
  const asked = { leaving: JSON.stringify([...leaving]), now };
  if (userIds === 'everyone') {
    return lockedQueues(db, (name) => asked[name])
      .where((is) => is.or([asksFor(types), is('user_id', 'in', amongNumbers(db, [...leaving]))]))
      .execute();
  }
  const ofUsers = { ...asked, userIds: JSON.stringify([...userIds]) };
  return hasPublic ? queuesOfPublic(db, ofUsers) : queuesOfUsers(db, ofUsers);
}

interface LiveOrLeaving {
  /** A JSON array of user ids. */
  readonly leaving: string;
  readonly now: number;
}

interface QueuesOfUsers extends LiveOrLeaving {
  /** A JSON array of user ids. */
  readonly userIds: string;
}

const queuesOfUsers = fixedQuery<ServerTables, QueuesOfUsers, LockedQueue>((db, parameter) =>
  lockedQueues(db, parameter).where(
    'user_id',
    'in',
    amongNumbersOf<ServerTables, UserId>(db, parameter('userIds')),
  ),
);

const queuesOfPublic = fixedQuery<ServerTables, QueuesOfUsers, LockedQueue>((db, parameter) =>
  // Uses a union, because with `or` SQLite would scan all queues instead of using the two indexes.
  lockedQueues(db, parameter).where('queue_id', 'in', (queues) =>
    queues
      .selectFrom('event_queues')
      .select('queue_id')
      .where('user_id', 'in', amongNumbersOf<ServerTables, UserId>(db, parameter('userIds')))
      .union(
        queues
          .selectFrom('event_queues')
          .select('queue_id')
          .where('has_all_public_channels', '=', sql<number>`1`),
      ),
  ),
);

function lockedQueues(
  db: Db,
  parameter: <Name extends keyof LiveOrLeaving>(name: Name) => LiveOrLeaving[Name],
) {
  return db
    .selectFrom('event_queues')
    .selectAll()
    .select([followsPublic.as('follows_public'), isOwnerActive.as('is_owner_active')])
    .where((is) =>
      is.or([
        isLive(parameter('now')),
        is('user_id', 'in', amongNumbersOf<ServerTables, UserId>(db, parameter('leaving'))),
      ]),
    )
    .orderBy('queue_id')
    .modifyEnd(lockingRows(db));
}

// A subquery with `limit` is a lookup for each queue. With `exists`, PostgreSQL would hash all users.
const followsPublic = sql<number>`case when has_all_public_channels = 1 then coalesce((
  select 1 from users
  where users.id = event_queues.user_id and users.is_active = 1 and users.role <> ${roles.guest} limit 1
), 0) else 0 end`;

const isOwnerActive = sql<number>`coalesce((
  select 1 from users where users.id = event_queues.user_id and users.is_active = 1 limit 1
), 0)`;
