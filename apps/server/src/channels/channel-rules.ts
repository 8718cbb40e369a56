import { isAdministrator } from '../authentication/require-administrator.js';
import type { PermissionName } from '../permissions/permission-settings.js';
import { roles } from '../permissions/roles.js';
import type { ChannelAccess } from './channel-access.js';

/** Whether somebody may know of the channel, its name and its settings. */
export function seesChannel(access: ChannelAccess): boolean {
  const { actor, held } = access;
  return readsChannel(access) || isAdministrator(actor.role) || held.has('can_administer_channel_group');
}

/**
 * Whether somebody may read what is sent in the channel, and what was sent before as far as history goes; to administer
 * it is not enough.
 */
export function readsChannel(access: ChannelAccess): boolean {
  const { actor, channel, isSubscribed } = access;
  if (channel.isWebPublic || isSubscribed) return true;
  return channel.isPrivate ? mayJoinPrivate(access) : actor.role !== roles.guest;
}

/** Whether somebody may administer the channel; in a private one without reading it. */
export function administersChannel({ actor, held }: ChannelAccess): boolean {
  return isAdministrator(actor.role) || held.has('can_administer_channel_group');
}

/** Whether somebody may post in the channel; an archived one takes no messages from anybody. */
export function maySendTo(access: ChannelAccess): boolean {
  const { actor, channel, held, isSubscribed } = access;
  if (channel.isArchived || !held.has('can_send_message_group')) return false;
  if (channel.isWebPublic || isSubscribed) return true;
  if (!channel.isPrivate) return actor.role !== roles.guest;
  return channel.isHistoryPublic && mayJoinPrivate(access);
}

/** Whether somebody may put others into the channel; for that it takes to read it. */
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

/** Whether somebody may take others out of the channel; for that it is enough to know of it. */
export function mayRemoveSubscribers(access: ChannelAccess): boolean {
  if (!seesChannel(access)) return false;
  return access.held.has('can_remove_subscribers_group') || administersChannel(access);
}

/** Whoever may subscribe themselves or others to a private channel reads it. */
function mayJoinPrivate({ held }: ChannelAccess): boolean {
  return held.has('can_subscribe_group') || held.has('can_add_subscribers_group');
}
