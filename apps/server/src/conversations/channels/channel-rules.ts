import type { PermissionName } from '../../people/permissions/permission-settings.js';
import { isAdministrator } from '../../platform/authentication/require-administrator.js';
import { roles } from '../../platform/authentication/roles.js';
import type { ChannelAccess } from './channel-access.js';

/** Returns whether a user can see that the channel exists, its name and its settings. */
export function seesChannel(access: ChannelAccess): boolean {
  const { actor, held } = access;
  return readsChannel(access) || isAdministrator(actor.role) || held.has('can_administer_channel_group');
}

/**
 * Returns whether a user may read messages in the channel. If its history is protected, this excludes messages from
 * before the user subscribed. The right to administer a channel does not include read access.
 */
export function readsChannel(access: ChannelAccess): boolean {
  const { actor, channel, isSubscribed } = access;
  if (channel.isWebPublic || isSubscribed) return true;
  return channel.isPrivate ? mayJoinPrivate(access) : actor.role !== roles.guest;
}

/** Returns whether a user may administer the channel. In a private channel, this right does not include read access. */
export function administersChannel({ actor, held }: ChannelAccess): boolean {
  return isAdministrator(actor.role) || held.has('can_administer_channel_group');
}

/** Returns whether a user may post in the channel. Archived channels accept no messages. */
export function maySendTo(access: ChannelAccess): boolean {
  const { actor, channel, held, isSubscribed } = access;
  if (channel.isArchived || !held.has('can_send_message_group')) return false;
  if (channel.isWebPublic || isSubscribed) return true;
  if (!channel.isPrivate) return actor.role !== roles.guest;
  return channel.isHistoryPublic && mayJoinPrivate(access);
}

/** Returns whether a user may subscribe others to the channel, which requires read access. */
export function mayAddSubscribers(
  access: ChannelAccess,
  inRealm: ReadonlySet<PermissionName<'realm'>>,
): boolean {
  if (!readsChannel(access) || access.actor.role === roles.guest) return false;
  const { held } = access;
  return (
    inRealm.has('can_add_subscribers_group') ||
    held.has('can_add_subscribers_group') ||
    administersChannel(access)
  );
}

/**
 * Returns whether a user may unsubscribe others from the channel. The user must be able to see the channel, but does
 * not need read access.
 */
export function mayRemoveSubscribers(access: ChannelAccess): boolean {
  if (!seesChannel(access)) return false;
  return access.held.has('can_remove_subscribers_group') || administersChannel(access);
}

/**
 * Returns whether a user may subscribe themselves or others to a private channel. Users with this right may also read
 * the channel.
 */
function mayJoinPrivate({ held }: ChannelAccess): boolean {
  return held.has('can_subscribe_group') || held.has('can_add_subscribers_group');
}
