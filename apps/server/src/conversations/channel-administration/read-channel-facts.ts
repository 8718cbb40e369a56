import type { ChannelId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import type { ServerContext } from '../../context.js';
import { readReferences } from '../../people/permissions/known-references.js';
import {
  type PermissionHolder,
  readPermissions,
  roleGroupId,
  roleGroupIds,
} from '../../people/permissions/permission-store.js';
import { namedIn } from '../../people/permissions/plan-permission.js';
import { readRealmSetting } from '../../people/realm/realm-setting-store.js';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import { readChannelAccess } from '../channels/channel-access.js';
import { noSuchChannel } from '../channels/channel-refusals.js';
import { lockChannels } from '../channels/channel-store.js';
import { isKnownFolder } from '../channels/folders/folder-store.js';
import { readRealmRights } from '../channels/realm-rights.js';
import type { ChannelFacts, ChannelUpdateRequest } from './channel-update.js';

interface Asked {
  readonly actor: PermissionHolder;
  readonly channelId: ChannelId;
  readonly requested: ChannelUpdateRequest;
  readonly serverOffersWebPublic: ServerContext['offersWebPublicChannels'];
}

/**
 * Locks a channel and reads the state that changes to it are checked against. The caller must have locked groups and
 * settings.
 * @throws ProtocolError BAD_REQUEST if the channel does not exist.
 */
export async function readChannelFacts(
  transaction: ServerTransaction,
  { actor, channelId, requested, serverOffersWebPublic }: Asked,
): Promise<ChannelFacts> {
  const { db } = transaction;
  const requests = Object.values(requested.permissions).flatMap((each) =>
    each === undefined ? [] : [each.new],
  );
  const known = await readReferences(transaction, namedIn(requests));
  const [channel] = await lockChannels(transaction, [channelId]);
  if (channel === undefined) throw noSuchChannel();
  const access = (await readChannelAccess(db, actor, [channel])).get(channelId);
  if (access === undefined) throw noSuchChannel();
  const roleGroups = await roleGroupIds(db);
  const moderationChannelId = await readRealmSetting(db, 'moderation_request_channel_id');
  return {
    access,
    rights: await readRealmRights(db, actor, { serverOffersWebPublic }),
    permissions: (await readPermissions(db, 'channel', [channelId]))(channelId),
    nobodyId: roleGroupId(roleGroups, 'role:nobody'),
    everyoneId: roleGroupId(roleGroups, 'role:everyone'),
    known,
    isNameTaken: requested.name !== undefined && (await isNameTaken(db, requested.name, channelId)),
    isFolderKnown:
      typeof requested.folderId === 'number' && (await isKnownFolder(transaction, requested.folderId)),
    isForModerationRequests: moderationChannelId === channelId,
    hasSubscribers: requested.isArchived !== undefined && (await hasSubscribers(db, channelId)),
    hasNamedTopics: requested.topicsPolicy === 'empty_topic_only' && (await hasNamedTopics(db, channelId)),
  };
}

async function isNameTaken(db: Kysely<ServerTables>, name: string, channelId: ChannelId): Promise<boolean> {
  const row = await db
    .selectFrom('channels')
    .select('id')
    .where('name_lower', '=', name.trim().toLowerCase())
    .where('id', '<>', channelId)
    .executeTakeFirst();
  return row !== undefined;
}

async function hasSubscribers(db: Kysely<ServerTables>, channelId: ChannelId): Promise<boolean> {
  const row = await db
    .selectFrom('subscriptions')
    .innerJoin('users', 'users.id', 'subscriptions.user_id')
    .where('channel_id', '=', channelId)
    .where('subscriptions.is_active', '=', 1)
    .where('users.is_active', '=', 1)
    .select('user_id')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

async function hasNamedTopics(db: Kysely<ServerTables>, channelId: ChannelId): Promise<boolean> {
  const row = await db
    .selectFrom('messages')
    .select('id')
    .where('channel_id', '=', channelId)
    .where('topic_lower', '>', '')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
