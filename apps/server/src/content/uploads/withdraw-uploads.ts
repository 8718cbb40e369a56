import { amongNumbers, lockingRows } from '@waxwing/storage';
import type { ServerContext } from '../../context.js';
import type { ServerTransaction } from '../../tables.js';
import { giveBytesBack } from './upload-account.js';

/**
 * Hides unreferenced files from all users and releases their quota. The caller must remove the bytes from the store
 * after the transaction.
 */
export async function withdrawUploads(
  { db }: ServerTransaction,
  ids: readonly number[],
  now: number,
): Promise<void> {
  const rows = await db
    .updateTable('attachments')
    .set({ is_stored: 0, unclaimed_since: now })
    .where('id', 'in', amongNumbers(db, ids))
    .where('is_stored', '=', 1)
    .returning('size_bytes')
    .execute();
  await giveBytesBack(
    db,
    rows.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
  );
}

/** A hidden file. Its row remains until the bytes are removed from the store, so that a failed removal is retried. */
export interface LeftFile {
  readonly id: number;
  readonly pathId: string;
}

/** Removes the bytes of a hidden file, and then its row. */
export async function removeLeftFile(
  { database, uploads: { store } }: Pick<ServerContext, 'database' | 'uploads'>,
  { id, pathId }: LeftFile,
): Promise<void> {
  await store.remove(pathId);
  await database.write(({ db }) => db.deleteFrom('attachments').where('id', '=', id).execute());
}

/**
 * Like {@link removeLeftFile}, but logs errors instead of throwing. Returns whether it succeeded. A scheduled job
 * retries failures within two days.
 */
export async function tryRemoveLeftFile(
  context: Pick<ServerContext, 'database' | 'log' | 'uploads'>,
  file: LeftFile,
): Promise<boolean> {
  try {
    await removeLeftFile(context, file);
    return true;
  } catch (err) {
    context.log.error(
      { err, path: file.pathId },
      'an uploaded file could not be removed; the removal will be retried',
    );
    return false;
  }
}

/** Returns whether the database marks a file as complete. Waits for a concurrent transaction that may be marking it. */
export async function isStoredUpload(
  { database }: Pick<ServerContext, 'database'>,
  { id }: Pick<LeftFile, 'id'>,
): Promise<boolean> {
  const row = await database.write(({ db }) =>
    db
      .selectFrom('attachments')
      .select('is_stored')
      .where('id', '=', id)
      .modifyEnd(lockingRows(db))
      .executeTakeFirst(),
  );
  return row?.is_stored === 1;
}
