import { removeInBatches } from '@waxwing/storage';
import type { ServerContext } from '../context.js';
import { deleteIdleQueues } from './event-queue-store.js';

/** Deletes the event queues that nobody uses any more; how many they were. */
export function removeIdleQueues(
  { clock, database }: Pick<ServerContext, 'clock' | 'database'>,
  signal: AbortSignal,
): Promise<number> {
  return removeInBatches((limit) => database.write(({ db }) => deleteIdleQueues(db, clock(), limit)), signal);
}
