import type { ChannelId, UserId } from '@waxwing/protocol';
import type { VisibilityPolicy } from './visibility-policies.js';

/** A requested visibility policy of a user for a topic. */
export interface TopicPolicyRequest {
  readonly userId: UserId;
  readonly channelId: ChannelId;
  readonly topic: string;
  readonly policy: VisibilityPolicy;
}
