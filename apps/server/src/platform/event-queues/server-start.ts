import { lockingRows } from '@waxwing/storage';
import type { Transaction } from 'kysely';
import type { ServerDatabase, ServerTables } from '../../tables.js';

const queuesPerTransaction = 1000;

/**
 * Records each queue's newest event id when a server starts. Until a client polls again, it cannot have an event with
 * a higher id, unless the database was restored from a backup. In that case the client has events that the database
 * lost, and new events reuse their ids. `GET /events` ends such a queue, so that its client registers again.
 *
 * Keeps an existing record, because a client may be asleep during several starts. Other running processes clear the
 * record when they respond to a poll.
 */
export async function noteServerStart(database: Pick<ServerDatabase, 'write'>): Promise<void> {
  for (let after = ''; ; ) {
    const queueIds = await database.write(({ db }) => noteSome(db, after));
    const last = queueIds.at(-1);
    if (last === undefined || queueIds.length < queuesPerTransaction) return;
    after = last;
  }
}

async function noteSome(db: Transaction<ServerTables>, after: string): Promise<string[]> {
  const rows = await db
    .selectFrom('event_queues')
    .select('queue_id')
    .where('queue_id', '>', after)
    // Publishing also locks queues in this order. A different order could deadlock.
    .orderBy('queue_id')
    .limit(queuesPerTransaction)
    .modifyEnd(lockingRows(db))
    .execute();
  const queueIds = rows.map(({ queue_id }) => queue_id);
  if (queueIds.length === 0) return queueIds;
  await db
    .updateTable('event_queues')
    .set(({ ref }) => ({ newest_at_start: ref('last_event_id') }))
    .where('queue_id', 'in', queueIds)
    .where('newest_at_start', 'is', null)
    .execute();
  return queueIds;
}
