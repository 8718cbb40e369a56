import { amongNumbers, lockingRows } from '@waxwing/storage';
import type { ServerContext } from '../context.js';
import type { ServerTransaction } from '../tables.js';
import { giveBytesBack } from './upload-account.js';

/**
 * Takes stored files, to which nothing refers any more, out of everybody's sight; their bytes are to be removed after
 * that.
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

/** A file that nobody sees: its row is there so that it is not forgotten in the store. */
export interface LeftFile {
  readonly id: number;
  readonly pathId: string;
}

/** Removes the bytes of a file that nobody sees, and then its row. */
export async function removeLeftFile(
  { database, uploads: { store } }: Pick<ServerContext, 'database' | 'uploads'>,
  { id, pathId }: LeftFile,
): Promise<void> {
  await store.remove(pathId);
  await database.write(({ db }) => db.deleteFrom('attachments').where('id', '=', id).execute());
}

/** As {@link removeLeftFile}; whether it could be done. What cannot be is logged, and tried again within two days. */
export async function tryRemoveLeftFile(
  context: Pick<ServerContext, 'database' | 'log' | 'uploads'>,
  file: LeftFile,
): Promise<boolean> {
  try {
    await removeLeftFile(context, file);
    return true;
  } catch (err) {
    context.log.error({ err, path: file.pathId }, 'an uploaded file could not be removed; it is tried again');
    return false;
  }
}

/** Whether a file is whole in the database, once whoever is about to say so has said it. */
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
