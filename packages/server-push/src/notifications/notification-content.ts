import type { UserId } from '@waxwing/protocol';
/** What a test notification says: that notifications arrive. `time` in Unix seconds. */
export interface TestContent {
  readonly type: 'test';
  readonly time: number;
}

/** Where a message was sent. */
export type MessageRecipient =
  | {
      readonly kind: 'channel';
      readonly channelId: number;
      readonly channelName: string;
      readonly topic: string;
    }
  /** Everyone in the conversation, sender and recipient included. */
  | { readonly kind: 'direct'; readonly userIds: readonly UserId[] };

/** A message that the user is to see. `time` in Unix seconds. */
export interface MessageContent {
  readonly type: 'message';
  readonly messageId: number;
  readonly time: number;
  /** Plain text. */
  readonly content: string;
  readonly senderId: number;
  readonly senderFullName: string;
  /** Absolute. */
  readonly senderAvatarUrl: string;
  readonly recipient: MessageRecipient;
  /** Present when the mention of a group is why the user is notified. */
  readonly mentionedUserGroup?: { readonly id: number; readonly name: string };
}

/** Messages whose notifications are to go: they were read, deleted or became inaccessible. */
export interface RemoveContent {
  readonly type: 'remove';
  readonly messageIds: readonly number[];
}

/** What a notification says, apart from whom it is for (docs/protocol.md#notification). */
export type NotificationContent = TestContent | MessageContent | RemoveContent;
