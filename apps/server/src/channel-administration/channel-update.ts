import type { GroupId } from '@waxwing/protocol';
import type { ChannelAccess } from '../channels/channel-access.js';
import type { Privacy, PrivacyWish } from '../channels/channel-privacy.js';
import type { TopicsPolicy } from '../channels/channel-store.js';
import type { RealmRights } from '../channels/realm-rights.js';
import type { GroupSettingValue, SettingWish } from '../permissions/group-setting-value.js';
import type { KnownReferences } from '../permissions/known-references.js';
import type { PermissionName } from '../permissions/permission-settings.js';
import type { PermissionValues } from '../permissions/permission-store.js';

/** What somebody wants to be another with a channel. */
export interface ChannelUpdateWish {
  readonly privacy: PrivacyWish;
  readonly topicsPolicy: TopicsPolicy | undefined;
  readonly isDefault: boolean | undefined;
  /** `null` for the organisation's, -1 without end. */
  readonly retentionDays: number | null | undefined;
  readonly isArchived: boolean | undefined;
  readonly description: string | undefined;
  readonly name: string | undefined;
  /** `null` for none. */
  readonly folderId: number | null | undefined;
  readonly permissions: Readonly<Partial<Record<PermissionName<'channel'>, SettingWish | undefined>>>;
}

/** What rules about a channel ask for. It stays so until the transaction ends. */
export interface ChannelFacts {
  readonly access: ChannelAccess;
  readonly rights: RealmRights;
  readonly permissions: PermissionValues<'channel'>;
  readonly nobodyId: GroupId;
  readonly everyoneId: GroupId;
  readonly known: KnownReferences;
  /** Whether another channel has the name that is asked for; archived ones count. */
  readonly isNameTaken: boolean;
  readonly isFolderKnown: boolean;
  /** Whether moderators are asked for help in this channel. */
  readonly isForModerationRequests: boolean;
  readonly hasSubscribers: boolean;
  /** Whether one of its messages is in a topic that has a name. */
  readonly hasNamedTopics: boolean;
}

/** What will be another with a channel; what is left out stays. */
export interface ChannelChange {
  /** Also where it is what it was: clients are told again. */
  readonly privacy?: Privacy;
  readonly topicsPolicy?: TopicsPolicy;
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
