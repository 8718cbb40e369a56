import type { References } from '@waxwing/markdown';
import type { MessageId, UserId } from '@waxwing/protocol';
import type { ChannelAccess } from '../../channels/channel-access.js';
import type { PermissionName } from '../../permissions/permission-settings.js';
import type { PermissionHolder } from '../../permissions/permission-store.js';
import type { RealmSettingValues } from '../../realm/realm-settings.js';
import type { MessagePlace } from './edit-wish.js';

/** Everything that the rules for editing a message ask for. */
export interface EditFacts {
  /** Unix milliseconds. */
  readonly now: number;
  readonly actor: PermissionHolder;
  readonly settings: RealmSettingValues;
  /** Which permissions of the organisation the actor has. */
  readonly held: ReadonlySet<PermissionName<'realm'>>;
  /** `undefined` where there is none that the actor may read. */
  readonly message: EditedMessage | undefined;
  /** Where the message is, as the actor stands to it; `undefined` for direct messages. */
  readonly origin: ChannelAccess | undefined;
  /** The channel that it is to go to; `undefined` where there is none. */
  readonly target: ChannelAccess | undefined;
  /** Of the new content; `undefined` where it stays. */
  readonly content: ContentFacts | undefined;
  /** Of the topic that it leaves; read only where somebody may move too much. */
  readonly counted: CountedTopic | undefined;
  /** Whether no message is in the topic that it goes to. */
  readonly isTopicNew: boolean;
}

export interface EditedMessage extends MessagePlace {
  readonly id: MessageId;
  readonly senderId: UserId;
  /** As it was written. */
  readonly content: string;
  /** Unix milliseconds. */
  readonly sentAt: number;
}

export interface ContentFacts {
  /** As it is stored, once it is. */
  readonly source: string;
  readonly html: string;
  readonly references: References;
  /** The names of the groups that it mentions and the actor may not mention. */
  readonly forbiddenGroups: readonly string[];
  /** Active subscribers of the channel. */
  readonly subscribers: number;
  /** Those who have sent something to the topic that the message will be in; read only where all of them are mentioned. */
  readonly participants: ReadonlySet<UserId>;
}

/** The messages of a topic that the actor may read. */
export interface CountedTopic {
  readonly total: number;
  /** Those that are young enough to be moved, and the oldest of them. */
  readonly movable: number;
  readonly firstMovableId: MessageId | null;
}
