import type { ChannelId, UserId } from '@waxwing/protocol';
import type { VisibilityPolicy } from './visibility-policies.js';

/** What a user wants of a topic from now on. */
export interface TopicWish {
  readonly userId: UserId;
  readonly channelId: ChannelId;
  readonly topic: string;
  readonly policy: VisibilityPolicy;
}
