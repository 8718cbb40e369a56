import type { UserId } from '@waxwing/protocol';
import { amongNumbers, lockingRows, readPages, rowsAsTable } from '@waxwing/storage';
import { type Kysely, type Selectable, sql } from 'kysely';
import type { ServerTables, ServerTransaction } from '../../tables.js';

/** A complete uploaded file. Unless stated otherwise, functions in this file return files for messages, not avatars. */
export interface Upload {
  readonly id: number;
  /** `<realm_id>/<xx>/<yyyy>/<file_name>`. */
  readonly pathId: string;
  readonly ownerId: UserId;
  readonly fileName: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

type Db = Kysely<ServerTables>;

/** Returns the file with this path, or `undefined` if the file does not exist or is incomplete. */
export async function findUpload(db: Db, pathId: string): Promise<Upload | undefined> {
  const row = await stored(db).where('path_id', '=', pathId).executeTakeFirst();
  return row && toUpload(row);
}

/** Returns the avatar with this path, or `undefined` if the avatar does not exist or is no longer in use. */
export async function findAvatar(db: Db, pathId: string): Promise<Upload | undefined> {
  const row = await avatars(db).where('path_id', '=', pathId).executeTakeFirst();
  return row && toUpload(row);
}

/** Returns a user's avatars: at most one, except within the transaction that replaces it. */
export async function listAvatars(db: Db, ownerId: UserId): Promise<Upload[]> {
  return (await avatars(db).where('owner_id', '=', ownerId).orderBy('id').execute()).map(toUpload);
}

/** Returns the file with this id, or `undefined` if the file does not exist or is incomplete. */
export async function findUploadById(db: Db, id: number): Promise<Upload | undefined> {
  const [upload] = await findUploads(db, [id]);
  return upload;
}

/** Returns the files with these ids, ordered by id. */
export async function findUploads(db: Db, ids: readonly number[]): Promise<Upload[]> {
  const rows = await stored(db).where('id', 'in', amongNumbers(db, ids)).orderBy('id').execute();
  return rows.map(toUpload);
}

/** Page size. Small enough that reading a page and its message ids does not noticeably delay other requests. */
const uploadsPerPage = 50;

/** Yields the files of a user, oldest first, in pages. Each page is current when it is read. */
export function uploadPages(db: Db, ownerId: UserId): AsyncGenerator<Upload[]> {
  return readPages(uploadsPerPage, async (last?: Upload) => {
    const rows = await stored(db)
      .where('owner_id', '=', ownerId)
      .where('id', '>', last?.id ?? 0)
      .orderBy('id')
      .limit(uploadsPerPage)
      .execute();
    return rows.map(toUpload);
  });
}

/** Returns the files with these paths, ordered by id, and locks them until the transaction ends. */
export async function lockUploads({ db }: ServerTransaction, pathIds: readonly string[]): Promise<Upload[]> {
  const rows = pathIds.map((path_id) => ({ path_id }));
  const among = sql<string>`(select v.path_id from ${rowsAsTable(db, 'v', { path_id: 'text' }, rows)})`;
  const found = await stored(db)
    .where('path_id', 'in', among)
    .orderBy('id')
    .modifyEnd(lockingRows(db))
    .execute();
  return found.map(toUpload);
}

function stored(db: Db, isAvatar = 0) {
  return db
    .selectFrom('attachments')
    .selectAll()
    .where('is_stored', '=', 1)
    .where('is_avatar', '=', isAvatar);
}

function avatars(db: Db) {
  return stored(db, 1);
}

function toUpload(row: Selectable<ServerTables['attachments']>): Upload {
  return {
    id: row.id,
    pathId: row.path_id,
    ownerId: row.owner_id,
    fileName: row.file_name,
    contentType: row.content_type,
    sizeBytes: row.size_bytes,
    createdAt: row.created_at,
  };
}
