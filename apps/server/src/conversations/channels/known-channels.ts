import type { ChannelId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import type { ServerTables } from '../../tables.js';
import { readChannelAccess } from './channel-access.js';
import { noSuchChannel } from './channel-refusals.js';
import { seesChannel } from './channel-rules.js';
import { type Channel, findChannels } from './channel-store.js';
import { type ChannelVisibility, readChannelVisibility } from './channel-visibility.js';

/**
 * Returns the channels that the user can see, ordered by id, with the user's access to each. Includes archived
 * channels. `ids` limits the result to these channels.
 */
export async function readKnownChannels(
  db: Kysely<ServerTables>,
  actor: PermissionHolder,
  ids?: readonly ChannelId[],
): Promise<ChannelVisibility[]> {
  const visibilities = await readChannelVisibility(db, actor, await findChannels(db, ids), ids);
  return visibilities.filter(seesChannel);
}

/**
 * Finds a channel that the user can see.
 * @throws ProtocolError BAD_REQUEST if the channel does not exist or the user cannot see it.
 */
export async function requireKnownChannel(
  db: Kysely<ServerTables>,
  actor: PermissionHolder,
  channelId: ChannelId,
): Promise<Channel> {
  const access = (await readChannelAccess(db, actor, await findChannels(db, [channelId]))).get(channelId);
  if (access === undefined || !seesChannel(access)) throw noSuchChannel();
  return access.channel;
}
