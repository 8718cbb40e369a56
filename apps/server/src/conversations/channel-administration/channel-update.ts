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

/** The state that the rules check a channel change against. It is locked until the transaction ends. */
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
  /** Read only for a request to unarchive. */
  readonly hasSubscribers: boolean;
  /** Whether any message of the channel is in a named topic. */
  readonly hasNamedTopics: boolean;
}

/** A planned channel change. Absent fields stay unchanged. */
export interface ChannelChange {
  /** Present whenever the request sets the privacy, even to the current value: clients still get the event. */
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
