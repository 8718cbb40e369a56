import { z } from 'zod';
import { flags, integer, integers, list, lists, map, maps, texts } from './shape-fields.js';
import { userSettingsShape } from './user-settings-shape.js';

// The register response as stock clients read it: required fields and other documented fields.

const listedUser = z.strictObject({
  ...integers('user_id', 'role', 'avatar_version'),
  ...texts('email', 'full_name', 'date_joined', 'timezone'),
  ...flags('is_owner', 'is_admin', 'is_guest', 'is_bot', 'is_imported_stub', 'is_deleted'),
  delivery_email: z.string().nullable(),
  avatar_url: z.string().nullable(),
  bot_type: integer.nullable(),
  bot_owner_id: integer.nullable().optional(),
  profile_data: map.optional(),
});

const userGroup = z.looseObject({
  ...integers('id'),
  ...texts('name', 'description'),
  members: z.array(integer),
  direct_subgroup_ids: z.array(integer),
  ...flags('is_system_group', 'deactivated'),
});

const groupValue = z.union([
  integer,
  z.object({ direct_members: z.array(integer), direct_subgroups: z.array(integer) }),
]);
const channelGroups = [
  'can_add_subscribers_group',
  'can_administer_channel_group',
  'can_delete_any_message_group',
  'can_delete_own_message_group',
  'can_move_messages_out_of_channel_group',
  'can_move_messages_within_channel_group',
  'can_remove_subscribers_group',
  'can_resolve_topics_group',
  'can_send_message_group',
  'can_subscribe_group',
];

const channelFields = {
  ...integers('stream_id', 'date_created', 'subscriber_count'),
  ...texts('name', 'description', 'rendered_description', 'topics_policy'),
  ...flags('invite_only', 'is_web_public', 'history_public_to_subscribers', 'is_archived'),
  ...flags('is_recently_active', 'is_announcement_only', 'default_push_notifications'),
  first_message_id: integer.nullable(),
  message_retention_days: integer.nullable(),
  creator_id: integer.nullable(),
  folder_id: integer.nullable(),
  stream_weekly_traffic: integer.nullable(),
  stream_post_policy: integer.min(1).max(4),
  ...Object.fromEntries(channelGroups.map((name) => [name, groupValue])),
};
const channel = z.looseObject(channelFields);
const inherited = z.boolean().nullable();
const subscription = z.looseObject({
  ...channelFields,
  color: z.string().regex(/^#[0-9a-f]{6}$/),
  ...flags('is_muted', 'in_home_view', 'pin_to_top'),
  desktop_notifications: inherited,
  audible_notifications: inherited,
  push_notifications: inherited,
  email_notifications: inherited,
  wildcard_mentions_notify: inherited,
});

const unreadIds = { unread_message_ids: z.array(integer).nonempty() };
const unread = z.object({
  ...integers('count'),
  ...flags('old_unreads_missing'),
  pms: z.array(z.object({ ...integers('other_user_id', 'sender_id'), ...unreadIds })),
  streams: z.array(z.object({ ...integers('stream_id'), ...texts('topic'), ...unreadIds })),
  huddles: z.array(z.object({ user_ids_string: z.string().regex(/^\d+(,\d+)+$/), ...unreadIds })),
  mentions: z.array(integer),
});

/** A message as the mobile app reads it. */
export const messageShape = z.looseObject({
  ...integers('id', 'sender_id', 'timestamp', 'recipient_id'),
  ...texts(
    'subject',
    'content',
    'content_type',
    'sender_email',
    'sender_full_name',
    'sender_realm_str',
    'client',
  ),
  type: z.enum(['stream', 'private']),
  stream_id: integer.optional(),
  display_recipient: z.union([
    z.string(),
    z.array(z.object({ ...integers('id'), ...texts('email', 'full_name'), ...flags('is_mirror_dummy') })),
  ]),
  avatar_url: z.string().nullable(),
  is_me_message: z.boolean(),
  ...lists('reactions', 'submessages'),
  topic_links: z.array(z.object(texts('text', 'url'))),
  last_edit_timestamp: integer.optional(),
  last_moved_timestamp: integer.optional(),
  edit_history: list.nonempty().optional(),
});

const realm = {
  ...integers(
    'max_topic_length',
    'max_message_length',
    'max_stream_name_length',
    'max_stream_description_length',
    'max_channel_folder_name_length',
    'max_channel_folder_description_length',
    'max_reminder_note_length',
    'max_bulk_new_subscription_messages',
    'max_file_upload_size_mib',
    'max_avatar_file_size_mib',
    'max_icon_file_size_mib',
    'max_logo_file_size_mib',
    'server_presence_ping_interval_seconds',
    'server_presence_offline_threshold_seconds',
    'server_typing_started_expiry_period_milliseconds',
    'server_typing_stopped_wait_period_milliseconds',
    'server_typing_started_wait_period_milliseconds',
    'event_queue_longpoll_timeout_seconds',
    'server_generation',
    'password_min_length',
    'password_max_length',
    'password_min_guesses',
    'realm_plan_type',
    'realm_org_type',
    'realm_date_created',
    'realm_new_stream_announcements_stream_id',
    'realm_signup_announcements_stream_id',
    'realm_moderation_request_channel_id',
    'realm_zulip_update_announcements_stream_id',
    'realm_wildcard_mention_policy',
    'realm_waiting_period_threshold',
    'realm_message_retention_days',
    'realm_media_preview_size',
    'realm_gif_rating_policy',
  ),
  ...flags(
    'server_web_public_streams_enabled',
    'server_inline_image_preview',
    'server_inline_url_embed_preview',
    'server_needs_upgrade',
    'server_can_summarize_topics',
    'server_avatar_changes_disabled',
    'server_name_changes_disabled',
    'development_environment',
    'realm_presence_disabled',
    'realm_push_notifications_enabled',
    'realm_email_auth_enabled',
    'realm_password_auth_enabled',
    'settings_send_digest_emails',
    'zulip_plan_is_not_limited',
    'realm_mandatory_topics',
    'realm_allow_edit_history',
    'realm_allow_message_editing',
    'realm_enable_read_receipts',
    'realm_owner_full_content_access',
    'realm_require_e2ee_push_notifications',
  ),
  ...texts(
    'realm_uuid',
    'realm_name',
    'realm_description',
    'realm_logo_url',
    'realm_night_logo_url',
    'realm_bot_domain',
    'realm_default_language',
    'realm_empty_topic_display_name',
    'realm_topics_policy',
  ),
  realm_url: z.url(),
  realm_uri: z.url(),
  realm_icon_url: z.url(),
  realm_icon_source: z.enum(['G', 'U']),
  realm_default_avatar_source: z.enum(['G', 'J']),
  server_emoji_data_url: z.url(),
  realm_message_content_edit_limit_seconds: integer.nullable(),
  realm_message_content_delete_limit_seconds: integer.nullable(),
  realm_upload_quota_mib: integer.nullable(),
  server_jitsi_server_url: z.string().nullable(),
  jitsi_server_url: z.string().nullable(),
  realm_jitsi_server_url: z.string().nullable(),
  ...lists('server_thumbnail_formats', 'server_report_message_types'),
  ...maps(
    'realm_available_video_chat_providers',
    'gif_rating_policy_options',
    'realm_default_external_accounts',
  ),
  realm_authentication_methods: z.record(
    z.string(),
    z.object({ enabled: z.boolean(), available: z.boolean() }),
  ),
  realm_can_delete_own_message_group: z.union([integer, map]),
  realm_can_delete_any_message_group: z.union([integer, map]),
  realm_workplace_users_group: z.union([integer, map]),
  server_supported_permission_settings: z.object({ realm: map, stream: map, group: map }),
};

/** The fields of the response for each fetchable type. */
export const fieldsByType: Readonly<Record<string, z.ZodRawShape>> = {
  realm,
  alert_words: lists('alert_words'),
  custom_profile_fields: {
    ...lists('custom_profile_fields'),
    custom_profile_field_types: z.record(z.string(), z.object({ id: integer, name: z.string() })),
  },
  message: integers('max_message_id'),
  'message,update_message_flags': {
    ...integers('max_message_id'),
    unread_msgs: unread,
  },
  starred_messages: { starred_messages: z.array(integer) },
  muted_topics: { muted_topics: z.array(z.tuple([z.string(), z.string(), integer])) },
  user_topic: {
    user_topics: z.array(
      z.object({ ...integers('stream_id', 'last_updated', 'visibility_policy'), ...texts('topic_name') }),
    ),
  },
  muted_users: lists('muted_users'),
  presence: { ...maps('presences'), ...integers('presence_last_update_id'), server_timestamp: z.number() },
  realm_user: {
    realm_users: z.array(listedUser),
    realm_non_active_users: z.array(listedUser),
    ...lists('cross_realm_bots'),
    ...integers('user_id'),
    ...texts('email', 'delivery_email', 'full_name', 'avatar_url', 'avatar_url_medium', 'avatar_source'),
    ...flags(
      'is_owner',
      'is_admin',
      'is_moderator',
      'is_guest',
      'can_create_public_streams',
      'can_create_private_streams',
      'can_create_web_public_streams',
      'can_subscribe_other_users',
      'can_invite_others_to_realm',
    ),
  },
  realm_user_groups: { realm_user_groups: z.array(userGroup) },
  realm_emoji: maps('realm_emoji'),
  realm_playgrounds: lists('realm_playgrounds'),
  realm_linkifiers: lists('realm_linkifiers'),
  realm_filters: lists('realm_filters'),
  realm_domains: lists('realm_domains'),
  default_streams: { realm_default_streams: z.array(integer) },
  default_stream_groups: lists('realm_default_stream_groups'),
  realm_bot: lists('realm_bots'),
  realm_embedded_bots: lists('realm_embedded_bots'),
  realm_incoming_webhook_bots: lists('realm_incoming_webhook_bots'),
  recent_private_conversations: lists('recent_private_conversations'),
  subscription: {
    subscriptions: z.array(subscription),
    unsubscribed: z.array(subscription),
    never_subscribed: z.array(channel),
  },
  stream: { streams: z.array(channel) },
  channel_folders: {
    channel_folders: z.array(z.looseObject({ ...integers('id'), ...texts('name', 'description') })),
  },
  user_status: maps('user_status'),
  user_settings: { user_settings: userSettingsShape },
  realm_user_settings_defaults: maps('realm_user_settings_defaults'),
  saved_snippets: lists('saved_snippets'),
  drafts: lists('drafts'),
  scheduled_messages: lists('scheduled_messages'),
  reminders: lists('reminders'),
  navigation_views: lists('navigation_views'),
  onboarding_steps: lists('onboarding_steps'),
  stop_words: lists('stop_words'),
  push_device: maps('push_devices'),
  video_calls: flags('has_zoom_token', 'has_webex_token'),
  klipy: texts('klipy_api_key'),
  giphy: texts('giphy_api_key'),
  tenor: texts('tenor_api_key'),
  realm_billing: maps('realm_billing'),
};

/** Fields that are always present. */
export const alwaysThere = {
  queue_id: z.string(),
  last_event_id: integer,
  ...texts('zulip_version', 'zulip_merge_base'),
  ...integers('zulip_feature_level'),
};
