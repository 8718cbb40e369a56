import { lockingRows, removeInBatches } from '@waxwing/storage';
import type { ServerContext } from '../../context.js';
import { type LeftFile, tryRemoveLeftFile, withdrawUploads } from './withdraw-uploads.js';

const day = 24 * 60 * 60_000;
/** How long the server keeps a file that no message refers to. */
const unclaimedMilliseconds = 28 * day;
/** Age at which an incomplete upload counts as failed. */
const leftMilliseconds = day;
// Small batches, because each file takes a separate call to the store.
const filesPerStep = 50;

type Context = Pick<ServerContext, 'clock' | 'database' | 'log' | 'uploads'>;

/**
 * Removes files that no message has referred to for four weeks, and leftovers of interrupted uploads and removals.
 * Returns the number of removed files. A file that cannot be removed does not block others, and is retried in the next
 * run.
 */
export async function removeUnclaimedUploads(context: Context, signal: AbortSignal): Promise<number> {
  const { clock, database } = context;
  await removeInBatches(
    (limit) => database.write((transaction) => withdrawSome(transaction, clock(), limit)),
    signal,
  );
  let removed = 0;
  let lastId = 0;
  while (!signal.aborted) {
    const left = await findLeftFiles(context, lastId);
    for (const file of left) {
      if (await tryRemoveLeftFile(context, file)) removed += 1;
      lastId = file.id;
    }
    if (left.length < filesPerStep) break;
  }
  return removed;
}

async function withdrawSome(
  transaction: Parameters<typeof withdrawUploads>[0],
  now: number,
  limit: number,
): Promise<number> {
  const { db } = transaction;
  const rows = await db
    .selectFrom('attachments')
    .select('id')
    .where('unclaimed_since', '<', now - unclaimedMilliseconds)
    .where('is_stored', '=', 1)
    .orderBy('id')
    .limit(limit)
    .modifyEnd(lockingRows(db))
    .execute();
  // Backdated by four weeks, so that the same run also deletes the files from the store.
  const before = now - unclaimedMilliseconds;
  await withdrawUploads(
    transaction,
    rows.map(({ id }) => id),
    before,
  );
  return rows.length;
}

async function findLeftFiles({ clock, database: { db } }: Context, afterId: number): Promise<LeftFile[]> {
  const rows = await db
    .selectFrom('attachments')
    .select(['id', 'path_id'])
    .where('is_stored', '=', 0)
    .where('id', '>', afterId)
    .where('unclaimed_since', '<', clock() - leftMilliseconds)
    .orderBy('id')
    .limit(filesPerStep)
    .execute();
  return rows.map(({ id, path_id }) => ({ id, pathId: path_id }));
}
