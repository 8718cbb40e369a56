import { unixSeconds } from '@waxwing/service/lifecycle';
import { lockExclusive, lockShared } from '@waxwing/storage';
import type { Kysely, Selectable } from 'kysely';
import { z } from 'zod';
import type { ServerTables, ServerTransaction } from '../../../tables.js';

/** Name of the lock on all folders. */
const folders = 'channel folders';

/** A channel folder in responses and events. */
export const folderRecord = z
  .object({
    id: z.number().int(),
    name: z.string(),
    description: z.string(),
    /** HTML. */
    rendered_description: z.string(),
    order: z.number().int(),
    /** Unix seconds. */
    date_created: z.number().int(),
    creator_id: z.number().int().nullable(),
    is_archived: z.boolean(),
  })
  .meta({ schemaName: 'ChannelFolder' });

export type FolderRow = Selectable<ServerTables['channel_folders']>;

export function writeFolder(row: FolderRow): z.input<typeof folderRecord> {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    rendered_description: row.rendered_description,
    order: row.position,
    date_created: unixSeconds(row.created_at),
    creator_id: row.creator_id,
    is_archived: row.is_archived === 1,
  };
}

/** Returns all folders, in order of position. */
export function listFolders(db: Kysely<ServerTables>): Promise<FolderRow[]> {
  return db.selectFrom('channel_folders').selectAll().orderBy('position').orderBy('id').execute();
}

/** Takes an exclusive lock on all folders until the transaction ends. */
export function lockFolders({ db }: ServerTransaction): Promise<void> {
  return lockExclusive(db, folders);
}

/**
 * Returns whether the folder exists, archived or not. Takes a shared lock on all folders, so that the result stays
 * valid until the transaction ends.
 */
export async function isKnownFolder({ db }: ServerTransaction, id: number): Promise<boolean> {
  await lockShared(db, folders);
  const row = await db.selectFrom('channel_folders').select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}
