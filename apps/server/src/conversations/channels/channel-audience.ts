import type { ChannelId, GroupId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { type GroupSettingValue, groupsIn, usersIn } from '../../people/permissions/group-setting-value.js';
import { membersAmong } from '../../people/permissions/nested-membership.js';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import { roles } from '../../platform/authentication/roles.js';
import type { ServerTables } from '../../tables.js';
import { readsChannel, seesChannel } from './channel-rules.js';
import type { Channel } from './channel-store.js';
import {
  type ChannelVisibility,
  type VisibilityPermission,
  visibilityPermissions,
} from './channel-visibility.js';

type Db = Kysely<ServerTables>;
type Access = Omit<ChannelVisibility, 'hasLeft'>;

/** A channel, optionally with permission values from before a change. */
export interface AudienceOfChannel {
  readonly channel: Channel;
  /** The values of the permissions that make the channel visible. Default: the stored values. */
  readonly permissions?: Readonly<Record<VisibilityPermission, GroupSettingValue>>;
}

/** Selects users by their access to one channel. */
export interface ChannelAudience {
  /** Returns the users who can see that the channel exists. */
  seeing(): UserId[];
  /** Returns the users who could see the channel even without a subscription. */
  seeingUnsubscribed(): UserId[];
  /**
   * Returns the users who may read messages in the channel. If its history is protected, they may read only messages
   * sent after they subscribed.
   */
  reading(): PermissionHolder[];
}

/**
 * Determines users' access to channels by the rules in `channel-rules.ts`. All code that publishes events about
 * channels must get its audience from this function. Runs at most four statements, regardless of the number of
 * channels and users.
 */
export async function readAudiences(
  db: Db,
  wanted: readonly AudienceOfChannel[],
  among: readonly PermissionHolder[],
): Promise<(channelId: ChannelId) => ChannelAudience> {
  const subscribed = await readSubscribed(
    db,
    wanted.map(({ channel }) => channel),
    among,
  );
  const held = await readHeld(db, wanted, among);
  const found = new Map(
    wanted.map(({ channel }) => {
      const { id } = channel;
      const access = among.map(
        (actor): Access => ({
          actor,
          channel,
          isSubscribed: subscribed.get(id)?.has(actor.id) ?? false,
          held: held.get(id)?.get(actor.id) ?? nothingHeld,
        }),
      );
      return [id, toAudience(access)];
    }),
  );
  return (channelId) => found.get(channelId) ?? toAudience([]);
}

/** Like {@link readAudiences}, for one channel. */
export async function readAudience(
  db: Db,
  wanted: AudienceOfChannel,
  among: readonly PermissionHolder[],
): Promise<ChannelAudience> {
  return (await readAudiences(db, [wanted], among))(wanted.channel.id);
}

const nothingHeld: ReadonlySet<VisibilityPermission> = new Set();

function toAudience(access: readonly Access[]): ChannelAudience {
  const idsOf = (chosen: readonly Access[]) => chosen.map(({ actor }) => actor.id);
  return {
    seeing: () => idsOf(access.filter(seesChannel)),
    seeingUnsubscribed: () => idsOf(access.filter((each) => seesChannel({ ...each, isSubscribed: false }))),
    reading: () => access.filter(readsChannel).map(({ actor }) => actor),
  };
}

/**
 * Returns the subscribers whose access depends on their subscription: all users in private channels, guests in public
 * ones.
 */
async function readSubscribed(
  db: Db,
  channels: readonly Channel[],
  among: readonly PermissionHolder[],
): Promise<ReadonlyMap<ChannelId, ReadonlySet<UserId>>> {
  const privates = channels.filter(({ isPrivate }) => isPrivate);
  const publics = channels.filter(({ isPrivate, isWebPublic }) => !isPrivate && !isWebPublic);
  const guests = among.filter(({ role }) => role === roles.guest);
  return new Map([
    ...(await subscribersAmong(db, idsOf(privates), idsOf(among))),
    ...(await subscribersAmong(db, idsOf(publics), idsOf(guests))),
  ]);
}

function idsOf<Id>(rows: readonly { readonly id: Id }[]): Id[] {
  return rows.map(({ id }) => id);
}

/**
 * Returns which of these users are subscribed to each channel. Omits channels that none of the users is subscribed to.
 */
export async function subscribersAmong(
  db: Db,
  channelIds: readonly ChannelId[],
  userIds: readonly UserId[],
): Promise<ReadonlyMap<ChannelId, ReadonlySet<UserId>>> {
  const found = new Map<ChannelId, Set<UserId>>();
  if (channelIds.length === 0 || userIds.length === 0) return found;
  const rows = await db
    .selectFrom('subscriptions')
    .select(['channel_id', 'user_id'])
    .where('channel_id', 'in', amongNumbers(db, channelIds))
    .where('user_id', 'in', amongNumbers(db, userIds))
    .where('is_active', '=', 1)
    .execute();
  for (const { channel_id, user_id } of rows) {
    found.set(channel_id, (found.get(channel_id) ?? new Set()).add(user_id));
  }
  return found;
}

interface Grant {
  readonly channelId: ChannelId;
  readonly name: VisibilityPermission;
  readonly userIds: readonly UserId[];
  readonly groupIds: readonly GroupId[];
}

type Held = ReadonlyMap<ChannelId, ReadonlyMap<UserId, ReadonlySet<VisibilityPermission>>>;

/**
 * Returns which of these users have a permission that makes a private channel visible. Guests never have these
 * permissions, regardless of their groups.
 */
async function readHeld(
  db: Db,
  wanted: readonly AudienceOfChannel[],
  among: readonly PermissionHolder[],
): Promise<Held> {
  const members = among.filter(({ role }) => role !== roles.guest).map(({ id }) => id);
  const privates = wanted.filter(({ channel }) => channel.isPrivate);
  if (members.length === 0 || privates.length === 0) return new Map();
  const grants = await readGrants(db, privates);
  const groups = await membersAmong(db, members, [...new Set(grants.flatMap(({ groupIds }) => groupIds))]);
  const held = new Map<ChannelId, Map<UserId, Set<VisibilityPermission>>>();
  for (const { channelId, name, userIds, groupIds } of grants) {
    const ofChannel = held.get(channelId) ?? new Map<UserId, Set<VisibilityPermission>>();
    held.set(channelId, ofChannel);
    const named = new Set(userIds);
    const holders = members.filter(
      (id) => named.has(id) || groupIds.some((group) => groups.get(group)?.has(id)),
    );
    for (const id of holders) ofChannel.set(id, (ofChannel.get(id) ?? new Set()).add(name));
  }
  return held;
}

async function readGrants(db: Db, wanted: readonly AudienceOfChannel[]): Promise<Grant[]> {
  const given = wanted.flatMap(({ channel, permissions }) =>
    visibilityPermissions.flatMap((name): Grant[] => {
      const value = permissions?.[name];
      return value === undefined
        ? []
        : [{ channelId: channel.id, name, userIds: usersIn(value), groupIds: groupsIn(value) }];
    }),
  );
  const stored = wanted.filter(({ permissions }) => permissions === undefined);
  if (stored.length === 0) return given;
  const rows = await db
    .selectFrom('permissions')
    .where('level', '=', 'channel')
    .where(
      'owner_id',
      'in',
      amongNumbers(
        db,
        stored.map(({ channel }) => channel.id),
      ),
    )
    // No row means that no user has the permission: a permission that defaults to the creator gets a row at creation.
    .where('name', 'in', visibilityPermissions)
    .select(['owner_id', 'name', 'group_id'])
    .execute();
  return [
    ...given,
    ...rows.map((row) => ({
      channelId: row.owner_id as ChannelId,
      name: row.name as VisibilityPermission,
      userIds: [],
      groupIds: [row.group_id],
    })),
  ];
}
