import { refused } from '@waxwing/protocol';
import {
  booleanParameter,
  integerParameter,
  jsonParameter,
  noAnswer,
  operation,
} from '@waxwing/service/http';
import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import { z } from 'zod';
import type { ServerContext } from '../../../context.js';
import { idList } from '../../../people/permissions/id-lists.js';
import { realmLimits } from '../../../people/realm/realm-limits.js';
import { textOfAtMost } from '../../../people/realm/setting-shapes.js';
import { administrator, user } from '../../../platform/authentication/authenticate.js';
import {
  type FolderRow,
  folderRecord,
  listFolders,
  writeFolder,
} from '../../channels/folders/folder-store.js';
import { renderDescriptions } from '../../messages/render-content.js';
import { changeFolders } from './change-folders.js';
import { checkedFolderName, folderNameTaken } from './plan-folder.js';

const description = textOfAtMost(realmLimits.max_channel_folder_description_length);

/**
 * `GET /api/v1/channel_folders`: returns the channel folders, in order. Includes archived folders only with
 * `include_archived`.
 */
export const listChannelFolders = operation({
  method: 'GET',
  path: '/api/v1/channel_folders',
  summary: 'Lists channel folders.',
  actor: user,
  parameters: z.object({ include_archived: booleanParameter.default(false) }),
  answer: z.object({ channel_folders: z.array(folderRecord) }),
  codes: [],
  async handle({ database: { db } }: ServerContext, { parameters }) {
    const folders = await listFolders(db);
    const wanted = folders.filter((row) => parameters.include_archived || row.is_archived === 0);
    return { channel_folders: wanted.map(writeFolder) };
  },
});

/**
 * `POST /api/v1/channel_folders/create`: creates a folder at the last position. Notifies all users. Errors:
 * UNAUTHORIZED_PRINCIPAL for actors who are not administrators; BAD_REQUEST for an invalid name, and for the name of
 * another active folder.
 */
export const createChannelFolder = operation({
  method: 'POST',
  path: '/api/v1/channel_folders/create',
  summary: 'Creates a channel folder.',
  actor: administrator,
  parameters: z.object({ name: z.string(), description: description.default('') }),
  answer: z.object({ channel_folder_id: z.number().int() }),
  codes: ['BAD_REQUEST'],
  handle(context: ServerContext, { actor, parameters }) {
    return changeFolders(context, actor, async ({ db }, folders) => {
      const name = checkedFolderName(parameters.name);
      requireFree(folders, name);
      const [rendered = ''] = await renderDescriptions(db, context, actor, [parameters.description]);
      const row = await db
        .insertInto('channel_folders')
        .values({
          name,
          name_lower: name.toLowerCase(),
          description: parameters.description,
          rendered_description: rendered,
          position: Math.max(-1, ...folders.map(({ position }) => position)) + 1,
          creator_id: actor.id,
          created_at: context.clock(),
          is_archived: 0,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      const event = { type: 'channel_folder', op: 'add', channel_folder: writeFolder(row) };
      return { result: { channel_folder_id: row.id }, event };
    });
  },
});

/**
 * `PATCH /api/v1/channel_folders/{channel_folder_id}`: changes a folder, or archives a folder without channels.
 * Publishes the changed fields to all users. Errors: UNAUTHORIZED_PRINCIPAL for actors who are not administrators;
 * BAD_REQUEST for an unknown folder, an invalid name, the name of another active folder, and archiving a folder that
 * has channels.
 */
export const updateChannelFolder = operation({
  method: 'PATCH',
  path: '/api/v1/channel_folders/{channel_folder_id}',
  summary: 'Updates a channel folder.',
  actor: administrator,
  parameters: z.object({
    channel_folder_id: integerParameter,
    name: z.string().optional(),
    description: description.optional(),
    is_archived: booleanParameter.optional(),
  }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters }) {
    const { channel_folder_id: id, description, is_archived: isArchived } = parameters;
    await changeFolders(context, actor, async ({ db }, folders) => {
      const folder = folders.find((row) => row.id === id);
      if (folder === undefined) throw refused('Invalid channel folder ID');
      const name = parameters.name === undefined ? folder.name : checkedFolderName(parameters.name);
      if (isArchived ?? folder.is_archived === 1) {
        const channel = db.selectFrom('channels').select('id').where('folder_id', '=', id).limit(1);
        if ((await channel.executeTakeFirst()) !== undefined) {
          throw refused('You need to remove all the channels from this folder to archive it.');
        }
      } else {
        requireFree(
          folders.filter((row) => row.id !== id),
          name,
        );
      }
      const [rendered = ''] = await renderDescriptions(db, context, actor, [description ?? '']);
      const data = {
        ...(name === folder.name ? {} : { name }),
        ...(description === undefined || description === folder.description
          ? {}
          : { description, rendered_description: rendered }),
        ...(isArchived === undefined || isArchived === (folder.is_archived === 1)
          ? {}
          : { is_archived: isArchived }),
      };
      if (Object.keys(data).length === 0) return { result: undefined, event: undefined };
      const { is_archived, ...texts } = data;
      const set = { ...texts, ...(is_archived === undefined ? {} : { is_archived: Number(is_archived) }) };
      await db
        .updateTable('channel_folders')
        .set({ ...set, name_lower: name.toLowerCase() })
        .where('id', '=', id)
        .execute();
      const event = { type: 'channel_folder', op: 'update', channel_folder_id: id, data };
      return { result: undefined, event };
    });
    return {};
  },
});

/**
 * `PATCH /api/v1/channel_folders`: puts all folders into the given order. Notifies all users. Errors:
 * UNAUTHORIZED_PRINCIPAL for actors who are not administrators; BAD_REQUEST for an order that does not contain each
 * folder exactly once.
 */
export const reorderChannelFolders = operation({
  method: 'PATCH',
  path: '/api/v1/channel_folders',
  summary: 'Reorders channel folders.',
  actor: administrator,
  parameters: z.object({ order: jsonParameter(idList) }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters: { order } }) {
    await changeFolders(context, actor, async ({ db }, folders) => {
      const named = new Set(order);
      const isComplete = named.size === order.length && folders.every(({ id }) => named.has(id));
      if (!isComplete || order.length !== folders.length) throw refused('Invalid order mapping.');
      const rows = order.map((id, position) => ({ id, position }));
      await sql`
        update channel_folders set position = v.position
        from ${rowsAsTable(db, 'v', { id: 'integer', position: 'integer' }, rows)}
        where channel_folders.id = v.id`.execute(db);
      return { result: undefined, event: { type: 'channel_folder', op: 'reorder', order } };
    });
    return {};
  },
});

/** @throws ProtocolError BAD_REQUEST if an active folder has the name. */
function requireFree(folders: readonly FolderRow[], name: string): void {
  const lower = name.toLowerCase();
  if (folders.some((row) => row.is_archived === 0 && row.name_lower === lower)) throw folderNameTaken(name);
}
