import { booleanParameter } from '@waxwing/service/http';
import { z } from 'zod';
import { oneOf, wholeNumber } from '../realm/setting-shapes.js';
import { languageTag } from './language-tag.js';

/** The definition of a per-user setting. */
interface UserSetting<Value> {
  readonly default: Value;
  /** Parses and validates the value that clients send. */
  readonly parameter: z.ZodType<Value, string>;
  /** The setting's schema in responses and events. */
  readonly answer: z.ZodType<Value>;
}

export const emojisets = ['google', 'google-blob', 'twitter', 'text'] as const;
export const notificationSounds = ['zulip', 'ding', 'none'] as const;
const week = 7 * 24 * 60 * 60;

/** All per-user settings with their defaults. */
export const userSettings = {
  twenty_four_hour_time: flag(false),
  starred_message_counts: flag(true),
  display_emoji_reaction_users: flag(true),
  emojiset: word('google', emojisets),
  presence_enabled: flag(true),
  pm_content_in_desktop_notifications: flag(true),
  send_private_typing_notifications: flag(true),
  send_stream_typing_notifications: flag(true),
  send_read_receipts: flag(true),
  receives_typing_notifications: flag(true),
  default_language: setting('en', languageTag, z.string()),
  color_scheme: number(1, 1, 3),
  enter_sends: flag(false),
  web_home_view: homeView(),
  web_font_size_px: number(16, 10, 40),
  web_line_height_percent: number(140, 80, 240),
  demote_inactive_streams: number(1, 1, 3),
  user_list_style: number(3, 1, 3),
  web_mark_read_on_scroll_policy: number(1, 1, 3),
  web_channel_default_view: number(1, 1, 4),
  web_stream_unreads_count_display_policy: number(2, 1, 3),
  desktop_icon_count_display: number(1, 1, 4),
  realm_name_in_email_notifications_policy: number(1, 1, 3),
  automatically_follow_topics_policy: number(3, 1, 4),
  automatically_unmute_topics_in_muted_streams_policy: number(2, 1, 4),
  automatically_follow_topics_where_mentioned: flag(true),
  resolved_topic_notice_auto_read_policy: number(2, 1, 3),
  notification_sound: word('zulip', notificationSounds),
  email_notifications_batching_period_seconds: number(120, 5, week),
  enable_stream_desktop_notifications: flag(false),
  enable_stream_email_notifications: flag(false),
  enable_stream_push_notifications: flag(false),
  enable_stream_audible_notifications: flag(false),
  enable_followed_topic_desktop_notifications: flag(true),
  enable_followed_topic_email_notifications: flag(true),
  enable_followed_topic_push_notifications: flag(true),
  enable_followed_topic_audible_notifications: flag(true),
  enable_followed_topic_wildcard_mentions_notify: flag(true),
  enable_desktop_notifications: flag(true),
  enable_sounds: flag(true),
  enable_offline_email_notifications: flag(true),
  enable_offline_push_notifications: flag(true),
  enable_online_push_notifications: flag(true),
  enable_digest_emails: flag(true),
  enable_marketing_emails: flag(true),
  enable_login_emails: flag(true),
  wildcard_mentions_notify: flag(true),
  message_content_in_email_notifications: flag(true),
  enable_drafts_synchronization: flag(true),
  web_inbox_show_channel_folders: flag(true),
  web_left_sidebar_show_channel_folders: flag(true),
  hide_ai_features: flag(false),
  allow_private_data_export: flag(false),
  fluid_layout_width: flag(false),
  high_contrast_mode: flag(false),
  left_side_userlist: flag(false),
  translate_emoticons: flag(false),
} as const;

export type UserSettingName = keyof typeof userSettings;

/** The value of every per-user setting. */
export type UserSettingValues = {
  readonly [Name in UserSettingName]: (typeof userSettings)[Name] extends UserSetting<infer Value>
    ? Value
    : never;
};

function setting<Value>(
  value: Value,
  parameter: z.ZodType<Value, string>,
  answer: z.ZodType<Value>,
): UserSetting<Value> {
  return { default: value, parameter, answer };
}

function flag(value: boolean): UserSetting<boolean> {
  return setting(value, booleanParameter as z.ZodType<boolean, string>, z.boolean());
}

function number(value: number, minimum: number, maximum: number): UserSetting<number> {
  return setting<number>(value, wholeNumber(minimum, maximum), z.number().int());
}

/** Defines the setting for the home view. Older clients call the view of recent conversations `recent_topics`. */
function homeView(): UserSetting<'inbox' | 'recent' | 'all_messages'> {
  const parameter = oneOf(['inbox', 'recent', 'recent_topics', 'all_messages']).transform((view) =>
    view === 'recent_topics' ? 'recent' : view,
  );
  return setting('inbox', parameter, z.literal(['inbox', 'recent', 'all_messages']));
}

function word<const Word extends string>(
  value: NoInfer<Word>,
  words: readonly [Word, ...Word[]],
): UserSetting<Word> {
  return setting<Word>(value, oneOf(words) as z.ZodType<Word, string>, z.literal(words));
}
