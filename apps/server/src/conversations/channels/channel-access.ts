import type { ChannelId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { type PermissionName, permissionNames } from '../../people/permissions/permission-settings.js';
import {
  holdsPermissions,
  type PermissionHolder,
  type PermissionKey,
} from '../../people/permissions/permission-store.js';
import type { ServerTables } from '../../tables.js';
import type { Channel } from './channel-store.js';

/** A user's access to a channel: the input of the rules in `channel-rules.ts`. */
export interface ChannelAccess {
  readonly actor: PermissionHolder;
  readonly channel: Channel;
  readonly isSubscribed: boolean;
  /** The channel permissions that the actor has. */
  readonly held: ReadonlySet<PermissionName<'channel'>>;
}

/** Reads a user's access to each of the channels, in two statements. */
export async function readChannelAccess(
  db: Kysely<ServerTables>,
  actor: PermissionHolder,
  channels: readonly Channel[],
): Promise<ReadonlyMap<ChannelId, ChannelAccess>> {
  if (channels.length === 0) return new Map();
  const ids = channels.map(({ id }) => id);
  const subscribed = await subscribedAmong(db, actor, ids);
  const asked = ids.flatMap((ownerId) =>
    permissionNames('channel').map((name): PermissionKey & { level: 'channel'; ownerId: ChannelId } => ({
      level: 'channel',
      ownerId,
      name,
    })),
  );
  const answers = await holdsPermissions(db, actor, asked);
  const held = new Map(ids.map((id) => [id, new Set<PermissionName<'channel'>>()]));
  for (const [index, { ownerId, name }] of asked.entries()) {
    if (answers[index]) held.get(ownerId)?.add(name);
  }
  return new Map(
    channels.map((channel) => [
      channel.id,
      {
        actor,
        channel,
        isSubscribed: subscribed.has(channel.id),
        held: held.get(channel.id) ?? new Set(),
      },
    ]),
  );
}

async function subscribedAmong(
  db: Kysely<ServerTables>,
  { id: userId }: PermissionHolder,
  channelIds: readonly ChannelId[],
): Promise<ReadonlySet<ChannelId>> {
  const rows = await db
    .selectFrom('subscriptions')
    .select('channel_id')
    .where('user_id', '=', userId)
    .where('is_active', '=', 1)
    .where('channel_id', 'in', amongNumbers(db, channelIds))
    .execute();
  return new Set(rows.map(({ channel_id }) => channel_id));
}
