import type { GroupId } from '@waxwing/protocol';
import type { GroupSettingValue, SettingRequest } from '../../people/permissions/group-setting-value.js';
import type { KnownReferences } from '../../people/permissions/known-references.js';
import type { PermissionName } from '../../people/permissions/permission-settings.js';
import type { PermissionValues } from '../../people/permissions/permission-store.js';
import type { ChannelAccess } from '../channels/channel-access.js';
import type { Privacy, PrivacyRequest } from '../channels/channel-privacy.js';
import type { TopicsPolicy } from '../channels/channel-store.js';
import type { RealmRights } from '../channels/realm-rights.js';

/** A requested channel change. `undefined` keeps the current value of a field. */
export interface ChannelUpdateRequest {
  readonly privacy: PrivacyRequest;
  readonly topicsPolicy: TopicsPolicy | undefined;
  readonly notifiesPhones: boolean | undefined;
  readonly isDefault: boolean | undefined;
  /** Days. `null` means the organization's setting, and -1 means unlimited. */
  readonly retentionDays: number | null | undefined;
  readonly isArchived: boolean | undefined;
  readonly description: string | undefined;
  readonly name: string | undefined;
  /** `null` removes the channel from its folder. */
  readonly folderId: number | null | undefined;
  readonly permissions: Readonly<Partial<Record<PermissionName<'channel'>, SettingRequest | undefined>>>;
}

/** The state that a channel change is checked against. Locked until the transaction ends. */
export interface ChannelFacts {
  readonly access: ChannelAccess;
  readonly rights: RealmRights;
  readonly permissions: PermissionValues<'channel'>;
  readonly nobodyId: GroupId;
  readonly everyoneId: GroupId;
  readonly known: KnownReferences;
  /** Whether another channel, archived or not, has the requested name. */
  readonly isNameTaken: boolean;
  readonly isFolderKnown: boolean;
  /** Whether this is the channel for moderation requests. */
  readonly isForModerationRequests: boolean;
  /** Whether the channel has active subscribers. Always false unless the request sets `is_archived`. */
  readonly hasSubscribers: boolean;
  /**
   * Whether any message of the channel is in a named topic. Always false unless the request allows only the unnamed
   * topic.
   */
  readonly hasNamedTopics: boolean;
}

/** A planned channel change. Absent fields stay unchanged. */
export interface ChannelChange {
  /** Present whenever the request sets the privacy. Clients get the event even if the privacy stays the same. */
  readonly privacy?: Privacy;
  readonly topicsPolicy?: TopicsPolicy;
  readonly notifiesPhones?: boolean;
  readonly isDefault?: boolean;
  readonly retentionDays?: number | null;
  readonly isArchived?: false;
  readonly description?: string;
  readonly name?: string;
  readonly folderId?: number | null;
  readonly permissions: readonly ChannelPermissionChange[];
}

export interface ChannelPermissionChange {
  readonly name: PermissionName<'channel'>;
  readonly before: GroupSettingValue;
  readonly value: GroupSettingValue;
}
