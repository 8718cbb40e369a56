import { lockExclusive, lockShared } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { ServerDatabase, ServerTables, ServerTransaction } from '../../tables.js';

const publishing = 'publishing of events';

/** Takes the shared publishing lock. Call this before a transaction looks up the queues for its events. */
export function beginPublishing({ db }: Pick<ServerTransaction, 'db'>): Promise<void> {
  return lockShared(db, publishing);
}

/** A snapshot, and the id of the last event that it includes. */
interface ReadWithQueue<Result> {
  readonly result: Result;
  readonly lastEventId: number;
}

/**
 * Reads a snapshot consistent with a committed queue. Changes up to the snapshot are in the result; their events have
 * ids up to `lastEventId`. Later changes are in the queue after `lastEventId`. `read` gets the snapshot's database.
 */
export async function readWithQueue<Result>(
  database: Pick<ServerDatabase, 'db' | 'readSnapshot'>,
  queueId: string,
  read: (db: Kysely<ServerTables>) => Promise<Result>,
): Promise<ReadWithQueue<Result>> {
  // Waits for transactions that looked up queues before the new queue was committed: they may still commit changes
  // without adding an event to the new queue.
  await database.db
    .transaction()
    .setAccessMode('read only')
    .execute((transaction) => lockExclusive(transaction, publishing));
  return database.readSnapshot(async (still) => {
    const queue = await still
      .selectFrom('event_queues')
      .select('last_event_id')
      .where('queue_id', '=', queueId)
      .executeTakeFirst();
    return { result: await read(still), lastEventId: queue?.last_event_id ?? -1 };
  });
}
