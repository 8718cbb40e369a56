import { removeInBatches } from '@waxwing/storage';
import type { ServerContext } from '../context.js';
import { deleteIdleQueues, deleteUnheldTexts } from './event-queue-store.js';

type Context = Pick<ServerContext, 'clock' | 'database'>;

/** Deletes the event queues that nobody uses any more; how many they were. */
export function removeIdleQueues({ clock, database }: Context, signal: AbortSignal): Promise<number> {
  return removeInBatches((limit) => database.write(({ db }) => deleteIdleQueues(db, clock(), limit)), signal);
}

/** Deletes what was in queues and is in none any more; how many events it was. */
export function removeUnheldTexts({ database }: Context, signal: AbortSignal): Promise<number> {
  return removeInBatches((limit) => database.write(({ db }) => deleteUnheldTexts(db, limit)), signal);
}
