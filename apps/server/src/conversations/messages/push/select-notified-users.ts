import type { UserSettingName, UserSettingValues } from '../../../people/user-settings/user-settings.js';
import { messageFlags } from '../message-flags.js';
import { visibilityPolicies } from '../topics/visibility-policies.js';

/** The user settings that control push notifications. */
export const pushSettingNames = [
  'enable_offline_push_notifications',
  'enable_stream_push_notifications',
  'enable_followed_topic_push_notifications',
  'enable_followed_topic_wildcard_mentions_notify',
  'wildcard_mentions_notify',
] as const satisfies readonly UserSettingName[];

export type PushSettings = Pick<UserSettingValues, (typeof pushSettingNames)[number]>;

/** A recipient's flags, settings and policies that determine whether to send a push notification. */
export interface NotificationFacts {
  /** Bits of the copy. */
  readonly flags: number;
  readonly isDirect: boolean;
  readonly isChannelMuted: boolean;
  /** The user's visibility policy for the topic. For direct messages it is `none`. */
  readonly topicPolicy: number;
  /** The subscription's own setting. `undefined` if the user's setting applies. */
  readonly pushesChannel: boolean | undefined;
  readonly wildcardsNotify: boolean | undefined;
  readonly settings: PushSettings;
}

/**
 * Returns whether to notify a recipient's devices of another user's unread message. The recipient's settings decide.
 * For direct messages and for mentions by name or group, they apply even in muted topics. For wildcard mentions,
 * followed topics and single channels, they apply only if the topic is not muted.
 */
export function isNotified(status: NotificationFacts): boolean {
  const { flags, isDirect, topicPolicy, settings } = status;
  if ((flags & messageFlags.read) !== 0) return false;
  const wantsMentions = settings.enable_offline_push_notifications;
  if (isDirect) return wantsMentions;
  if (wantsMentions && (flags & messageFlags.mentioned) !== 0) return true;
  const isFollowed = topicPolicy === visibilityPolicies.followed;
  const isHeard = isFollowed || topicPolicy === visibilityPolicies.unmuted;
  const isMuted = topicPolicy === visibilityPolicies.muted || (status.isChannelMuted && !isHeard);
  if (isMuted) return false;
  if (wantsMentions && hasWildcard(flags) && wantsWildcards(status, isFollowed)) return true;
  if (isFollowed && settings.enable_followed_topic_push_notifications) return true;
  return status.pushesChannel ?? settings.enable_stream_push_notifications;
}

function hasWildcard(flags: number): boolean {
  return (flags & (messageFlags.stream_wildcard_mentioned | messageFlags.topic_wildcard_mentioned)) !== 0;
}

function wantsWildcards({ wildcardsNotify, settings }: NotificationFacts, isFollowed: boolean): boolean {
  if (isFollowed && settings.enable_followed_topic_wildcard_mentions_notify) return true;
  return wildcardsNotify ?? settings.wildcard_mentions_notify;
}
