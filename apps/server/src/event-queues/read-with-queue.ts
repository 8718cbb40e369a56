import { holdAlone, holdTogether } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { ServerDatabase, ServerTables, ServerTransaction } from '../tables.js';

const publishing = 'publishing of events';

/** Says that a transaction is about to look for the queues that its events go into. */
export function beginPublishing({ db }: Pick<ServerTransaction, 'db'>): Promise<void> {
  return holdTogether(db, publishing);
}

/** What was read, and the last event of the queue that tells of what is in it. */
interface ReadWithQueue<Result> {
  readonly result: Result;
  readonly lastEventId: number;
}

/**
 * Reads at one instant with a queue that is committed: what happened until then is in what is read, and in the queue up to
 * `lastEventId` at most; what happens later comes into the queue after that. `read` is given a database that stands still.
 */
export async function readWithQueue<Result>(
  { db }: Pick<ServerDatabase, 'db'>,
  queueId: string,
  read: (db: Kysely<ServerTables>) => Promise<Result>,
): Promise<ReadWithQueue<Result>> {
  // Whoever looked for queues before this one was there may commit its change still.
  await db
    .transaction()
    .setAccessMode('read only')
    .execute((transaction) => holdAlone(transaction, publishing));
  return readAtOneInstant({ db }, async (still) => {
    const queue = await still
      .selectFrom('event_queues')
      .select('last_event_id')
      .where('queue_id', '=', queueId)
      .executeTakeFirst();
    return { result: await read(still), lastEventId: queue?.last_event_id ?? -1 };
  });
}

/** Gives `read` a database that stands still. */
export function readAtOneInstant<Result>(
  { db }: Pick<ServerDatabase, 'db'>,
  read: (db: Kysely<ServerTables>) => Promise<Result>,
): Promise<Result> {
  return db.transaction().setAccessMode('read only').setIsolationLevel('repeatable read').execute(read);
}
