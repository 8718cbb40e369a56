import { removeInBatches } from '@waxwing/storage';
import { deleteOldFailures } from '../authentication/sign-in-failure-store.js';
import type { ServerContext } from '../context.js';

type Context = Pick<ServerContext, 'clock' | 'database'>;

/** Deletes what is remembered of names that could not sign in once it matters no more; how many they were. */
export function removeOldFailures({ clock, database }: Context, signal: AbortSignal): Promise<number> {
  return removeInBatches(
    (limit) => database.write(({ db }) => deleteOldFailures(db, clock(), limit)),
    signal,
  );
}
