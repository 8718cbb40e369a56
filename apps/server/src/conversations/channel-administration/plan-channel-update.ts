import { ProtocolError, refused } from '@waxwing/protocol';
import { type PermissionName, permissionNames } from '../../people/permissions/permission-settings.js';
import { planPermission } from '../../people/permissions/plan-permission.js';
import { realmLimits } from '../../people/realm/realm-limits.js';
import { requireAdministrator } from '../../platform/authentication/require-administrator.js';
import { isPrivacyAsked, type Privacy, plannedPrivacy } from '../channels/channel-privacy.js';
import { channelExists, noSuchChannel } from '../channels/channel-refusals.js';
import { administersChannel, readsChannel } from '../channels/channel-rules.js';
import { checkedChannelName } from '../channels/channel-text.js';
import {
  requireMayMake,
  requireMayMakeWebPublic,
  requireMaySetDefault,
  requireMaySetPermission,
  requireMaySetRetention,
  requireMaySetTopicsPolicy,
} from '../channels/realm-rights.js';
import type {
  ChannelChange,
  ChannelFacts,
  ChannelPermissionChange,
  ChannelUpdateRequest,
} from './channel-update.js';

/** Permissions that give read access to the channel. Only users who already have read access may change them. */
const forReaders: readonly PermissionName<'channel'>[] = ['can_add_subscribers_group', 'can_subscribe_group'];

/** Permissions that are checked before all others, because changing them requires an additional right. */
const aboutDeleting: readonly PermissionName<'channel'>[] = [
  'can_delete_any_message_group',
  'can_delete_own_message_group',
];

/**
 * Plans a channel change. Runs the checks in the same order as stock servers.
 * @throws ProtocolError if the change violates a rule.
 */
export function planChannelUpdate(facts: ChannelFacts, requested: ChannelUpdateRequest): ChannelChange {
  requireMayAdminister(facts);
  const privacy = planPrivacy(facts, requested);
  const rest = [
    planTopicsPolicy(facts, requested),
    planPushDefault(facts, requested),
    planDefault(facts, requested),
    planRetention(facts, requested),
    planUnarchiving(facts, requested),
  ];
  const deleting = planPermissions(facts, requested, aboutDeleting);
  const description = requested.description === undefined ? {} : { description: requested.description };
  const name = planName(facts, requested);
  const folder = planFolder(facts, requested);
  const others = permissionNames('channel').filter((each) => !aboutDeleting.includes(each));
  const permissions = [...deleting, ...planPermissions(facts, requested, others)];
  requireTopicsForAll(facts, privacy ?? facts.access.channel, permissions);
  return Object.assign({}, privacy && { privacy }, ...rest, description, name, folder, { permissions });
}

/**
 * @throws ProtocolError BAD_REQUEST if the actor may not administer the channel. An actor without read access gets the
 * error for a missing channel, which does not reveal that the channel exists.
 */
export function requireMayAdminister({ access }: Pick<ChannelFacts, 'access'>): void {
  if (administersChannel(access)) return;
  if (!readsChannel(access)) throw noSuchChannel();
  throw refused('You do not have permission to administer this channel.');
}

function planPrivacy(facts: ChannelFacts, requested: ChannelUpdateRequest): Privacy | undefined {
  const { access, rights } = facts;
  const { channel } = access;
  const isAsked = isPrivacyAsked(requested.privacy);
  const privacy = isAsked ? plannedPrivacy(channel, requested.privacy) : channel;
  if (privacy.isPrivate && (requested.isDefault ?? channel.isDefault)) {
    throw refused('A default channel cannot be private.');
  }
  if (!privacy.isPrivate && facts.isForModerationRequests) {
    throw refused('The moderation request channel must be private.');
  }
  if (!isAsked) return undefined;
  const { isPrivate, isWebPublic, isHistoryPublic } = privacy;
  // Privacy determines who can read earlier messages, so changing it requires read access.
  requireContentAccess(facts);
  if (requested.privacy.isPrivate !== undefined && isPrivate !== channel.isPrivate)
    requireMayMake(rights, privacy);
  if (requested.privacy.isWebPublic && !channel.isWebPublic) requireMayMakeWebPublic(rights);
  return { isPrivate, isWebPublic, isHistoryPublic };
}

function requireContentAccess({ access }: ChannelFacts): void {
  if (!readsChannel(access)) throw refused('Channel content access is required.');
}

function planTopicsPolicy(
  { access, rights, hasNamedTopics }: ChannelFacts,
  { topicsPolicy }: ChannelUpdateRequest,
) {
  if (topicsPolicy === undefined || topicsPolicy === access.channel.topicsPolicy) return {};
  requireMaySetTopicsPolicy(rights, topicsPolicy);
  if (topicsPolicy === 'empty_topic_only' && hasNamedTopics) {
    const displayName = realmLimits.realm_empty_topic_display_name;
    throw new ProtocolError('BAD_REQUEST', {
      message: `To enable this configuration, all messages in this channel must be in the ${displayName} topic.`,
      fields: { empty_topic_display_name: displayName },
    });
  }
  return { topicsPolicy };
}

function planPushDefault({ access, rights }: ChannelFacts, { notifiesPhones }: ChannelUpdateRequest) {
  if (notifiesPhones === undefined || notifiesPhones === access.channel.notifiesPhones) return {};
  requireAdministrator(rights.actor);
  return { notifiesPhones };
}

function planDefault({ rights }: ChannelFacts, { isDefault }: ChannelUpdateRequest) {
  if (isDefault === undefined) return {};
  requireMaySetDefault(rights);
  return { isDefault };
}

function planRetention({ rights }: ChannelFacts, { retentionDays }: ChannelUpdateRequest) {
  if (retentionDays === undefined) return {};
  requireMaySetRetention(rights);
  return { retentionDays };
}

/**
 * Plans unarchiving. Stock clients send `is_archived=false`; `true` also unarchives an archived channel
 * (docs/chat-api.md). Archiving goes through `DELETE /streams/{stream_id}`.
 */
function planUnarchiving(
  { access: { channel }, hasSubscribers }: ChannelFacts,
  { isArchived }: ChannelUpdateRequest,
) {
  if (isArchived === undefined) return {};
  if (!channel.isArchived) {
    const archives = 'Archive a channel with DELETE /streams/{stream_id}.';
    throw refused(isArchived ? archives : 'Channel is not currently deactivated');
  }
  if (channel.isPrivate && !hasSubscribers) throw refused('Channel is private and has no subscribers');
  return { isArchived: false as const };
}

function planName({ access: { channel }, isNameTaken }: ChannelFacts, requested: ChannelUpdateRequest) {
  if (requested.name === undefined) return {};
  const trimmed = requested.name.trim();
  if (trimmed === channel.name) throw refused('Channel already has that name.');
  const name = checkedChannelName(trimmed);
  if (isNameTaken) throw channelExists(name);
  return { name };
}

function planFolder({ isFolderKnown }: ChannelFacts, { folderId }: ChannelUpdateRequest) {
  if (folderId === undefined) return {};
  if (folderId !== null && !isFolderKnown) throw refused('Invalid channel folder ID');
  return { folderId };
}

function planPermissions(
  facts: ChannelFacts,
  { permissions }: ChannelUpdateRequest,
  names: readonly PermissionName<'channel'>[],
): ChannelPermissionChange[] {
  return names.flatMap((name) => {
    const requested = permissions[name];
    if (requested === undefined) return [];
    const { nobodyId, known } = facts;
    const before = facts.permissions[name];
    const value = planPermission({ level: 'channel', name, current: before, nobodyId, known }, requested);
    if (value === undefined) return [];
    requireMaySetPermission(facts.rights, name);
    if (forReaders.includes(name)) requireContentAccess(facts);
    return [{ name, before, value }];
  });
}

/**
 * @throws ProtocolError BAD_REQUEST if history is protected and not all users may start topics. Users cannot see which
 * topics already exist there.
 */
function requireTopicsForAll(
  { everyoneId, permissions }: ChannelFacts,
  { isHistoryPublic }: Privacy,
  changes: readonly ChannelPermissionChange[],
): void {
  const changed = changes.find(({ name }) => name === 'can_create_topic_group');
  const value = changed?.value ?? permissions.can_create_topic_group;
  if (!isHistoryPublic && value !== everyoneId) throw refused('Invalid parameters');
}
