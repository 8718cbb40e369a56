import type { JsonObject, UserId } from '@waxwing/protocol';

/** A test notification. `time` is in Unix seconds. */
export interface TestContent {
  readonly type: 'test';
  readonly time: number;
}

/** The conversation that a message was sent to. */
export type MessageRecipient =
  | {
      readonly kind: 'channel';
      readonly channelId: number;
      readonly channelName: string;
      readonly topic: string;
    }
  /** Ids of all participants, including sender and recipient. */
  | { readonly kind: 'direct'; readonly userIds: readonly UserId[] };

/** A message to show to the user. `time` is in Unix seconds. */
export interface MessageContent {
  readonly type: 'message';
  readonly messageId: number;
  readonly time: number;
  /** Plain text. */
  readonly content: string;
  readonly senderId: number;
  readonly senderFullName: string;
  /** Absolute URL. */
  readonly senderAvatarUrl: string;
  readonly recipient: MessageRecipient;
  /** Present if the user is notified because a message mentions this group. */
  readonly mentionedUserGroup?: { readonly id: number; readonly name: string };
}

/** A request to retract the notifications of messages that were read, were deleted or became inaccessible. */
export interface RemoveContent {
  readonly type: 'remove';
  readonly messageIds: readonly number[];
}

/** Application-defined content. Never shortened: content that is too large is refused. */
export interface PayloadContent {
  readonly type: 'payload';
  /**
   * 1 to 64 letters, digits, `-` and `_`; default: a random UUID. The phone opens each id only once, even if the server
   * repeats the notification with the same `time`.
   */
  readonly id?: string;
  /** Unix seconds. Default: now. */
  readonly time?: number;
  readonly payload: JsonObject;
}

/** Content of a notification, without its recipient (docs/protocol.md#notification). */
export type NotificationContent = TestContent | MessageContent | RemoveContent | PayloadContent;
