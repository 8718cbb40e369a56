import type { References } from '@waxwing/markdown';
import type { MessageId, UserId } from '@waxwing/protocol';
import type { PermissionName } from '../../../people/permissions/permission-settings.js';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import type { RealmSettingValues } from '../../../people/realm/realm-settings.js';
import type { ChannelAccess } from '../../channels/channel-access.js';
import type { MessageLocation } from './edit-request.js';

/** The input to the rules for editing a message. */
export interface EditFacts {
  /** Unix milliseconds. */
  readonly now: number;
  readonly actor: PermissionHolder;
  readonly settings: RealmSettingValues;
  /** Realm permissions that the actor has. */
  readonly held: ReadonlySet<PermissionName<'realm'>>;
  /** `undefined` if the message does not exist or the actor may not read it. */
  readonly message: EditedMessage | undefined;
  /** The actor's access to the message's channel. `undefined` for direct messages. */
  readonly origin: ChannelAccess | undefined;
  /**
   * The actor's access to the target channel. `undefined` if the message stays in its channel or the target does not
   * exist.
   */
  readonly target: ChannelAccess | undefined;
  /** Facts about the new content. `undefined` if the content does not change. */
  readonly content: ContentFacts | undefined;
  /** Message counts of the origin topic. Counted only if the edit moves a whole topic under a time limit. */
  readonly counted: CountedTopic | undefined;
  /** Whether the target topic has no messages. */
  readonly isTopicNew: boolean;
}

export interface EditedMessage extends MessageLocation {
  readonly id: MessageId;
  readonly senderId: UserId;
  /** Markdown source. */
  readonly content: string;
  /** Unix milliseconds. */
  readonly sentAt: number;
}

export interface ContentFacts {
  /** Markdown source, as it will be stored. */
  readonly source: string;
  readonly html: string;
  /** HTML diff from the stored HTML to the new HTML. `null` if the message was edited while the diff was computed. */
  readonly htmlDiff: string | null;
  readonly references: References;
  /** Names of mentioned groups that the actor may not mention. */
  readonly forbiddenGroups: readonly string[];
  /** Number of active subscribers of the channel. Counted only if the content has a channel wildcard. */
  readonly subscribers: number;
  /**
   * Users who have sent messages to the topic that the message will be in. Read only if the content has a topic
   * wildcard.
   */
  readonly participants: ReadonlySet<UserId>;
}

/** Counts of the messages in a topic that the actor may read. */
export interface CountedTopic {
  readonly total: number;
  /** Number of messages within the time limit for moving. `firstMovableId` is the id of the oldest one. */
  readonly movable: number;
  readonly firstMovableId: MessageId | null;
}
