import { removeInBatches } from '@waxwing/storage';
import type { ServerContext } from '../../context.js';
import { deleteOldFailures } from '../../platform/authentication/sign-in-failure-store.js';

type Context = Pick<ServerContext, 'clock' | 'database'>;

/** Deletes expired sign-in failures in batches and returns their number. */
export function removeOldFailures({ clock, database }: Context, signal: AbortSignal): Promise<number> {
  return removeInBatches(
    (limit) => database.write(({ db }) => deleteOldFailures(db, clock(), limit)),
    signal,
  );
}
