import { type GroupId, refused, type UserId } from '@waxwing/protocol';
import { ascendingIds } from '../../people/permissions/ascending-ids.js';
import type { GroupSettingValue } from '../../people/permissions/group-setting-value.js';
import type { KnownReferences } from '../../people/permissions/known-references.js';
import {
  type PermissionName,
  permissionNames,
  permissionSetting,
} from '../../people/permissions/permission-settings.js';
import { checkedPermission } from '../../people/permissions/plan-permission.js';
import { requireAdministrator } from '../../platform/authentication/require-administrator.js';
import { type Privacy, type PrivacyRequest, plannedPrivacy, usualPrivacy } from './channel-privacy.js';
import type { TopicsPolicy } from './channel-store.js';
import { checkedChannelName } from './channel-text.js';
import {
  type RealmRights,
  requireMayMake,
  requireMayMakeWebPublic,
  requireMaySetDefault,
  requireMaySetPermission,
  requireMaySetRetention,
  requireMaySetTopicsPolicy,
} from './realm-rights.js';

/** The requested properties that apply to all new channels in a request. */
export interface NewChannelsRequest {
  readonly privacy: PrivacyRequest;
  readonly isDefault: boolean;
  /** `null` means the organization's setting, and -1 means unlimited. */
  readonly retentionDays: number | null;
  readonly folderId: number | undefined;
  readonly topicsPolicy: TopicsPolicy;
  readonly notifiesPhones: boolean;
  readonly permissions: Readonly<Partial<Record<PermissionName<'channel'>, GroupSettingValue | undefined>>>;
}

export interface NewChannelFacts {
  readonly rights: RealmRights;
  readonly nobodyId: GroupId;
  readonly everyoneId: GroupId;
  readonly known: KnownReferences;
  /** Whether the requested folder exists. */
  readonly isFolderKnown: boolean;
}

/** A channel to create. */
export interface PlannedChannel extends Privacy {
  readonly name: string;
  readonly description: string;
  readonly creatorId: UserId;
  readonly isDefault: boolean;
  readonly retentionDays: number | null;
  readonly folderId: number | undefined;
  readonly topicsPolicy: TopicsPolicy;
  readonly notifiesPhones: boolean;
  /** Contains only permissions that differ from the default. */
  readonly permissions: readonly { name: PermissionName<'channel'>; value: GroupSettingValue }[];
}

/**
 * Validates the creation of channels that differ only in name and description.
 * @throws ProtocolError if a rule does not allow the creation.
 */
export function planChannelCreation(
  facts: NewChannelFacts,
  requested: NewChannelsRequest,
  channels: readonly { readonly name: string; readonly description: string }[],
): PlannedChannel[] {
  if (channels.length === 0) return [];
  const names = channels.map(({ name }) => checkedChannelName(name));
  const { rights } = facts;
  const privacy = plannedPrivacy(usualPrivacy, requested.privacy);
  requireMayMake(rights, privacy);
  if (privacy.isWebPublic) requireMayMakeWebPublic(rights);
  if (requested.isDefault) requireMaySetDefault(rights);
  if (requested.isDefault && privacy.isPrivate) throw refused('A default channel cannot be private.');
  if (requested.retentionDays !== null) requireMaySetRetention(rights);
  requireMaySetTopicsPolicy(rights, requested.topicsPolicy);
  if (requested.notifiesPhones) requireAdministrator(rights.actor);
  if (requested.folderId !== undefined && !facts.isFolderKnown) throw refused('Invalid channel folder ID');
  const { isDefault, retentionDays, folderId, topicsPolicy, notifiesPhones } = requested;
  const permissions = planPermissions(facts, requested.permissions);
  requireTopicsForAll(privacy, permissions, facts.everyoneId);
  return channels.map(({ description }, index) => ({
    name: names[index] as string,
    description,
    creatorId: rights.actor.id,
    ...privacy,
    isDefault,
    retentionDays,
    folderId,
    topicsPolicy,
    notifiesPhones,
    permissions,
  }));
}

function planPermissions(
  { rights, nobodyId, known }: NewChannelFacts,
  requests: NewChannelsRequest['permissions'],
): PlannedChannel['permissions'] {
  return permissionNames('channel').flatMap((name) => {
    const wanted = requests[name];
    if (wanted === undefined) {
      const isForCreator = permissionSetting('channel', name).default === 'creator';
      const creator = { directMembers: ascendingIds([rights.actor.id]), directSubgroups: [] };
      return isForCreator ? [{ name, value: creator }] : [];
    }
    requireMaySetPermission(rights, name);
    return [{ name, value: checkedPermission({ level: 'channel', name, nobodyId, known }, wanted) }];
  });
}

/**
 * @throws ProtocolError BAD_REQUEST if history is protected and not all users may start topics. Users cannot see which
 * topics already exist there.
 */
function requireTopicsForAll(
  { isHistoryPublic }: Privacy,
  permissions: PlannedChannel['permissions'],
  everyoneId: GroupId,
): void {
  const other = permissions.some(
    ({ name, value }) => name === 'can_create_topic_group' && value !== everyoneId,
  );
  if (!isHistoryPublic && other) throw refused('Invalid parameters');
}
