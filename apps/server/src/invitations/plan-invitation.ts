import { type ChannelId, type GroupId, ProtocolError, refused } from '@waxwing/protocol';
import { isAdministrator } from '../authentication/require-administrator.js';
import type { ChannelAccess } from '../channels/channel-access.js';
import { mayAddSubscribers, readsChannel } from '../channels/channel-rules.js';
import type { Group } from '../groups/group-record.js';
import { ascendingIds } from '../permissions/ascending-ids.js';
import { insufficientPermission } from '../permissions/insufficient-permission.js';
import type { PermissionName } from '../permissions/permission-settings.js';
import type { PermissionHolder } from '../permissions/permission-store.js';
import { type Role, roles } from '../permissions/roles.js';
import type { InvitationTerms } from './invitation-store.js';

/** What the rules about invitations ask for. */
export interface InvitationFacts {
  readonly actor: PermissionHolder;
  /** Which permissions of the organisation the actor has. */
  readonly held: ReadonlySet<PermissionName<'realm'>>;
  readonly channels: ReadonlyMap<ChannelId, ChannelAccess>;
  readonly groups: ReadonlyMap<GroupId, Group>;
  /** The groups that the actor may put others into, though not all groups. */
  readonly addableGroupIds: ReadonlySet<GroupId>;
}

const roleNeeded: Partial<Record<Role, string>> = {
  [roles.owner]: 'Must be an organization owner',
  [roles.administrator]: 'Must be an organization administrator',
  [roles.moderator]: 'Must be an organization moderator',
};

/**
 * What an invitation will promise: what is wished, where all of it is allowed. @throws ProtocolError with the first
 * reason against it.
 */
export function planInvitation(facts: InvitationFacts, wish: InvitationTerms): InvitationTerms {
  const { actor, held } = facts;
  if (!held.has('create_multiuse_invite_group')) throw insufficientPermission();
  // The lower the number, the more a role may do.
  if (wish.role < actor.role) {
    const message = roleNeeded[wish.role] ?? 'Insufficient permission';
    throw new ProtocolError('UNAUTHORIZED_PRINCIPAL', { message });
  }
  requireChannels(facts, wish.channelIds);
  requireGroups(facts, wish.groupIds);
  if (wish.welcomeText !== undefined && !isAdministrator(actor.role)) {
    throw new ProtocolError('UNAUTHORIZED_PRINCIPAL', { message: 'Must be an organization administrator' });
  }
  return { ...wish, channelIds: ascendingIds(wish.channelIds), groupIds: ascendingIds(wish.groupIds) };
}

function requireChannels({ channels, held }: InvitationFacts, ids: readonly ChannelId[]): void {
  const named = ids.map((id) => {
    const access = channels.get(id);
    if (access === undefined || access.channel.isArchived || !readsChannel(access)) {
      throw refused(`Invalid channel ID ${id}. No invites were sent.`);
    }
    return access;
  });
  const closed = named.filter((access) => !mayAddSubscribers(access, held));
  const addsNone = named.length > 0 && closed.length === named.length;
  if (addsNone || closed.some(({ channel }) => !channel.isDefault)) {
    throw refused('You do not have permission to subscribe other users to channels.');
  }
}

function requireGroups({ groups, held, addableGroupIds }: InvitationFacts, ids: readonly GroupId[]): void {
  for (const id of ids) {
    const group = groups.get(id);
    if (group === undefined || group.isSystem) throw refused(`Invalid user group ID: ${id}`);
    if (!group.isActive) throw refused('User group is deactivated.');
    if (!held.has('can_manage_all_groups') && !addableGroupIds.has(id)) {
      throw insufficientPermission();
    }
  }
}
