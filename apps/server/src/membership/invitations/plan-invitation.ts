import { type ChannelId, type GroupId, ProtocolError, refused } from '@waxwing/protocol';
import type { ChannelAccess } from '../../conversations/channels/channel-access.js';
import { mayAddSubscribers, readsChannel } from '../../conversations/channels/channel-rules.js';
import type { Group } from '../../people/groups/group-record.js';
import { ascendingIds } from '../../people/permissions/ascending-ids.js';
import { insufficientPermission } from '../../people/permissions/insufficient-permission.js';
import type { PermissionName } from '../../people/permissions/permission-settings.js';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import { isAdministrator } from '../../platform/authentication/require-administrator.js';
import { type Role, roles } from '../../platform/authentication/roles.js';
import type { InvitationTerms } from './invitation-store.js';

/** Facts that the rules for invitations need. */
export interface InvitationFacts {
  /** The inviter. */
  readonly actor: PermissionHolder;
  /** The actor's realm permissions. */
  readonly held: ReadonlySet<PermissionName<'realm'>>;
  readonly channels: ReadonlyMap<ChannelId, ChannelAccess>;
  readonly groups: ReadonlyMap<GroupId, Group>;
  /** The groups whose permissions allow the actor to add members. */
  readonly addableGroupIds: ReadonlySet<GroupId>;
}

const roleNeeded: Partial<Record<Role, string>> = {
  [roles.owner]: 'Must be an organization owner',
  [roles.administrator]: 'Must be an organization administrator',
  [roles.moderator]: 'Must be an organization moderator',
};

/**
 * Validates the requested terms of an invitation.
 * @throws ProtocolError for the first rule that the terms violate.
 */
export function planInvitation(facts: InvitationFacts, requested: InvitationTerms): InvitationTerms {
  const { actor } = facts;
  if (!mayInvite(facts)) throw insufficientPermission();
  // A lower number is a more privileged role.
  if (requested.role < actor.role) {
    const message = roleNeeded[requested.role] ?? 'Insufficient permission';
    throw new ProtocolError('UNAUTHORIZED_PRINCIPAL', { message });
  }
  requireChannels(facts, requested.channelIds);
  for (const id of requested.groupIds) {
    const objection = objectionToGroup(facts, id);
    if (objection !== undefined) throw objection;
  }
  if (requested.welcomeText !== undefined && !mayWelcome(facts)) {
    throw new ProtocolError('UNAUTHORIZED_PRINCIPAL', { message: 'Must be an organization administrator' });
  }
  return {
    ...requested,
    channelIds: ascendingIds(requested.channelIds),
    groupIds: ascendingIds(requested.groupIds),
  };
}

/**
 * Reduces an invitation's terms to those that its inviter can still grant. Returns `undefined` if the inviter can no
 * longer invite.
 */
export function grantableTerms(facts: InvitationFacts, terms: InvitationTerms): InvitationTerms | undefined {
  if (!mayInvite(facts)) return undefined;
  return {
    ...terms,
    role: Math.max(terms.role, facts.actor.role) as Role,
    channelIds: terms.channelIds.filter((id) => mayLeadInto(facts, id)),
    groupIds: terms.groupIds.filter((id) => objectionToGroup(facts, id) === undefined),
    welcomeText: mayWelcome(facts) ? terms.welcomeText : undefined,
  };
}

/** Returns whether the user may create invitations. Guests never have this permission, regardless of their groups. */
function mayInvite({ held }: InvitationFacts): boolean {
  return held.has('create_multiuse_invite_group');
}

function mayWelcome({ actor }: InvitationFacts): boolean {
  return isAdministrator(actor.role);
}

/** Returns the active channel with this id, if the actor can read its messages; otherwise `undefined`. */
function readableChannel({ channels }: InvitationFacts, id: ChannelId): ChannelAccess | undefined {
  const access = channels.get(id);
  return access === undefined || access.channel.isArchived || !readsChannel(access) ? undefined : access;
}

/**
 * Returns whether an invitation may include this channel. A default channel needs no permission to add subscribers,
 * because new users join it anyway.
 */
function mayLeadInto(facts: InvitationFacts, id: ChannelId): boolean {
  const access = readableChannel(facts, id);
  return access !== undefined && (access.channel.isDefault || mayAddSubscribers(access, facts.held));
}

function requireChannels(facts: InvitationFacts, ids: readonly ChannelId[]): void {
  const named = ids.map((id) => {
    const access = readableChannel(facts, id);
    if (access === undefined) throw refused(`Invalid channel ID ${id}. No invites were sent.`);
    return access;
  });
  const addsNone = named.length > 0 && !named.some((access) => mayAddSubscribers(access, facts.held));
  if (addsNone || !ids.every((id) => mayLeadInto(facts, id))) {
    throw refused('You do not have permission to subscribe other users to channels.');
  }
}

/** Returns an error if the actor cannot add members to a group, otherwise `undefined`. */
function objectionToGroup(
  { groups, held, addableGroupIds }: InvitationFacts,
  id: GroupId,
): ProtocolError | undefined {
  const group = groups.get(id);
  if (group === undefined || group.isSystem) return refused(`Invalid user group ID: ${id}`);
  if (!group.isActive) return refused('User group is deactivated.');
  if (held.has('can_manage_all_groups') || addableGroupIds.has(id)) return undefined;
  return insufficientPermission();
}
