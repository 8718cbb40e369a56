import { storePermission } from '../../people/permissions/permission-store.js';
import type { ServerTransaction } from '../../tables.js';
import { channelExists } from './channel-refusals.js';
import { type Channel, findChannels } from './channel-store.js';
import type { PlannedChannel } from './plan-channel-creation.js';

/**
 * Inserts channels and their permissions, in the given order.
 * @param rendered the channels' descriptions as HTML, in the same order.
 * @throws ProtocolError CHANNEL_ALREADY_EXISTS if a concurrent request created a channel with the same name.
 */
export async function insertChannels(
  { db }: ServerTransaction,
  planned: readonly PlannedChannel[],
  { now, rendered }: { readonly now: number; readonly rendered: readonly string[] },
): Promise<Channel[]> {
  if (planned.length === 0) return [];
  const rows = planned.map((channel, index) => ({
    name: channel.name,
    name_lower: channel.name.toLowerCase(),
    description: channel.description,
    rendered_description: rendered[index] as string,
    is_private: Number(channel.isPrivate),
    is_web_public: Number(channel.isWebPublic),
    is_history_public: Number(channel.isHistoryPublic),
    is_default: Number(channel.isDefault),
    is_archived: 0,
    creator_id: channel.creatorId,
    created_at: now,
    message_retention_days: channel.retentionDays,
    folder_id: channel.folderId ?? null,
    topics_policy: channel.topicsPolicy,
    default_push_notifications: Number(channel.notifiesPhones),
    first_message_id: null,
    last_message_at: null,
  }));
  const inserted = await db
    .insertInto('channels')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'name'])
    .execute();
  const ids = new Map(inserted.map(({ id, name }) => [name, id]));
  for (const { name, permissions } of planned) {
    const ownerId = ids.get(name);
    if (ownerId === undefined) throw channelExists(name);
    for (const { name, value } of permissions) {
      await storePermission(db, { level: 'channel', ownerId, name }, value);
    }
  }
  return findChannels(db, [...ids.values()]);
}
