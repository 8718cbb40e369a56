import type { ServerContext } from '../context.js';
import { deleteIdleQueues } from './event-queue-store.js';

const queuesAtOnce = 500;

/** Deletes the event queues that nobody uses any more, some in each transaction so that nobody waits for long. */
export async function removeIdleQueues(
  { clock, database, log }: ServerContext,
  signal: AbortSignal,
): Promise<void> {
  let removed = 0;
  for (let found = queuesAtOnce; found === queuesAtOnce && !signal.aborted; removed += found) {
    found = await database.write(({ db }) => deleteIdleQueues(db, clock(), queuesAtOnce));
  }
  if (removed > 0) log.info({ removed }, 'removed idle event queues');
}
