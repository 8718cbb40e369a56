import type { ChannelId } from '@waxwing/protocol';
import { storePermission } from '../../people/permissions/permission-store.js';
import type { ServerTransaction } from '../../tables.js';
import type { ChannelChange } from './channel-update.js';

/** Applies a change to a locked channel. Runs one statement for the channel's row and a few for each permission. */
export async function applyChannelChange(
  { db }: ServerTransaction,
  channelId: ChannelId,
  change: ChannelChange,
  renderedDescription: string | undefined,
): Promise<void> {
  const {
    privacy,
    topicsPolicy,
    notifiesPhones,
    isDefault,
    retentionDays,
    isArchived,
    description,
    name,
    folderId,
  } = change;
  const set = {
    ...(privacy && {
      is_private: Number(privacy.isPrivate),
      is_web_public: Number(privacy.isWebPublic),
      is_history_public: Number(privacy.isHistoryPublic),
    }),
    ...(topicsPolicy && { topics_policy: topicsPolicy }),
    ...(notifiesPhones !== undefined && { default_push_notifications: Number(notifiesPhones) }),
    ...(isDefault !== undefined && { is_default: Number(isDefault) }),
    ...(retentionDays !== undefined && { message_retention_days: retentionDays }),
    ...(isArchived !== undefined && { is_archived: 0 }),
    ...(description !== undefined && { description, rendered_description: renderedDescription ?? '' }),
    ...(name !== undefined && { name, name_lower: name.toLowerCase() }),
    ...(folderId !== undefined && { folder_id: folderId }),
  };
  if (Object.keys(set).length > 0) {
    await db.updateTable('channels').set(set).where('id', '=', channelId).execute();
  }
  for (const { name, value } of change.permissions) {
    await storePermission(db, { level: 'channel', ownerId: channelId, name }, value);
  }
}
