import { removeInBatches } from '@waxwing/storage';
import type { ServerContext } from '../../context.js';
import { deleteIdleQueues, deleteUnusedTexts } from './event-queue-store.js';

type Context = Pick<ServerContext, 'clock' | 'database'>;

/** Deletes expired event queues in batches. Returns the number of deleted queues. */
export function removeIdleQueues({ clock, database }: Context, signal: AbortSignal): Promise<number> {
  return removeInBatches((limit) => database.write(({ db }) => deleteIdleQueues(db, clock(), limit)), signal);
}

/** Deletes event texts that no queue refers to, in batches. Returns the number of deleted texts. */
export function removeUnusedTexts({ database }: Context, signal: AbortSignal): Promise<number> {
  return removeInBatches((limit) => database.write(({ db }) => deleteUnusedTexts(db, limit)), signal);
}
