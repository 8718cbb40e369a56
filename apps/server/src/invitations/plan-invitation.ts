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
  /** The user who makes the invitation, or made it. */
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
  const { actor } = facts;
  if (!mayInvite(facts)) throw insufficientPermission();
  // The lower the number, the more a role may do.
  if (wish.role < actor.role) {
    const message = roleNeeded[wish.role] ?? 'Insufficient permission';
    throw new ProtocolError('UNAUTHORIZED_PRINCIPAL', { message });
  }
  requireChannels(facts, wish.channelIds);
  for (const id of wish.groupIds) {
    const objection = objectionToGroup(facts, id);
    if (objection !== undefined) throw objection;
  }
  if (wish.welcomeText !== undefined && !mayWelcome(facts)) {
    throw new ProtocolError('UNAUTHORIZED_PRINCIPAL', { message: 'Must be an organization administrator' });
  }
  return { ...wish, channelIds: ascendingIds(wish.channelIds), groupIds: ascendingIds(wish.groupIds) };
}

/**
 * What an invitation gives now: its terms, reduced to what its inviter may grant at this moment. `undefined` when the
 * inviter may invite no one.
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

/** Guests never hold this permission, whatever groups they are in. */
function mayInvite({ held }: InvitationFacts): boolean {
  return held.has('create_multiuse_invite_group');
}

function mayWelcome({ actor }: InvitationFacts): boolean {
  return isAdministrator(actor.role);
}

/** An active channel whose messages the actor reads; `undefined` for any other. */
function readableChannel({ channels }: InvitationFacts, id: ChannelId): ChannelAccess | undefined {
  const access = channels.get(id);
  return access === undefined || access.channel.isArchived || !readsChannel(access) ? undefined : access;
}

/** Default channels are granted by all who may invite: new users are in them anyway. */
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

/** Why the actor may not put others into a group; `undefined` when they may. */
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
