import type { UserSettingName, UserSettingValues } from '../../user-settings/user-settings.js';
import { messageFlags } from '../message-flags.js';
import { visibilityPolicies } from '../topics/visibility-policies.js';

/** The settings of a user that say what its phones are told of. */
export const pushSettingNames = [
  'enable_offline_push_notifications',
  'enable_stream_push_notifications',
  'enable_followed_topic_push_notifications',
  'enable_followed_topic_wildcard_mentions_notify',
  'wildcard_mentions_notify',
] as const satisfies readonly UserSettingName[];

export type PushSettings = Pick<UserSettingValues, (typeof pushSettingNames)[number]>;

/** How somebody who has a copy of a message stands to where it was sent. */
export interface NotifiedStanding {
  /** Bits of the copy. */
  readonly flags: number;
  readonly isDirect: boolean;
  readonly isChannelMuted: boolean;
  /** What the user wants of the topic; none for direct messages. */
  readonly topicPolicy: number;
  /** What the user wants of the channel; `undefined` for what its settings say. */
  readonly pushesChannel: boolean | undefined;
  readonly wildcardsNotify: boolean | undefined;
  readonly settings: PushSettings;
}

/**
 * Whether somebody's phones are told of a message that others have sent: of direct messages and of mentions by name or
 * group where it wants those, and, where it is not muted, of mentions of everybody, of followed topics, and of channels of
 * which it wants that.
 */
export function isNotified(standing: NotifiedStanding): boolean {
  const { flags, isDirect, topicPolicy, settings } = standing;
  if ((flags & messageFlags.read) !== 0) return false;
  const wantsMentions = settings.enable_offline_push_notifications;
  if (isDirect) return wantsMentions;
  if (wantsMentions && (flags & messageFlags.mentioned) !== 0) return true;
  const isFollowed = topicPolicy === visibilityPolicies.followed;
  const isHeard = isFollowed || topicPolicy === visibilityPolicies.unmuted;
  const isMuted = topicPolicy === visibilityPolicies.muted || (standing.isChannelMuted && !isHeard);
  if (isMuted) return false;
  if (wantsMentions && hasWildcard(flags) && wantsWildcards(standing, isFollowed)) return true;
  if (isFollowed && settings.enable_followed_topic_push_notifications) return true;
  return standing.pushesChannel ?? settings.enable_stream_push_notifications;
}

function hasWildcard(flags: number): boolean {
  return (flags & (messageFlags.stream_wildcard_mentioned | messageFlags.topic_wildcard_mentioned)) !== 0;
}

function wantsWildcards({ wildcardsNotify, settings }: NotifiedStanding, isFollowed: boolean): boolean {
  if (isFollowed && settings.enable_followed_topic_wildcard_mentions_notify) return true;
  return wildcardsNotify ?? settings.wildcard_mentions_notify;
}
