import { z } from 'zod';
import { passwordLength } from '../../platform/authentication/password-hash.js';
import { publicState } from '../../platform/event-queues/initial-state.js';
import { emojiDataPath } from './emoji-data-path.js';
import { realmIconUrl } from './realm-icon.js';
import { maximumAvatarMib, maximumUploadMib, mebibyte } from './realm-limits.js';

const text = z.string();
const flag = z.boolean();
const integer = z.number().int();
const noText = z.string().nullable();

/** Fields about the organization and its server that clients expect, with the same value on every server. */
const always = {
  max_reminder_note_length: 1000,
  max_bulk_new_subscription_messages: 100,
  max_file_upload_size_mib: maximumUploadMib,
  max_avatar_file_size_mib: maximumAvatarMib,
  max_icon_file_size_mib: 5,
  max_logo_file_size_mib: 5,
  server_presence_ping_interval_seconds: 60,
  server_presence_offline_threshold_seconds: 200,
  server_typing_started_expiry_period_milliseconds: 45_000,
  server_typing_stopped_wait_period_milliseconds: 12_000,
  server_typing_started_wait_period_milliseconds: 30_000,
  server_thumbnail_formats: [],
  server_inline_image_preview: false,
  server_inline_url_embed_preview: false,
  server_needs_upgrade: false,
  server_can_summarize_topics: false,
  server_avatar_changes_disabled: false,
  server_name_changes_disabled: false,
  development_environment: false,
  server_jitsi_server_url: null,
  jitsi_server_url: null,
  realm_jitsi_server_url: null,
  server_report_message_types: [],
  password_min_length: passwordLength.minimum,
  password_max_length: passwordLength.maximum,
  password_min_guesses: 0,
  realm_icon_source: 'G',
  realm_logo_url: '',
  realm_logo_source: 'D',
  realm_night_logo_url: '',
  realm_night_logo_source: 'D',
  realm_default_language: 'en',
  realm_presence_disabled: false,
  realm_email_auth_enabled: true,
  realm_password_auth_enabled: true,
  settings_send_digest_emails: false,
  zulip_plan_is_not_limited: true,
  realm_authentication_methods: { Email: { enabled: true, available: true } },
  realm_available_video_chat_providers: {},
  gif_rating_policy_options: {},
  realm_gif_rating_policy: 0,
  realm_default_avatar_source: 'G',
  realm_owner_full_content_access: false,
  realm_plan_type: 1,
  realm_org_type: 0,
  realm_zulip_update_announcements_stream_id: -1,
} as const;

type Always = typeof always;
type ShapeOf<Value> = Value extends boolean
  ? typeof flag
  : Value extends number
    ? typeof integer
    : Value extends string
      ? typeof text
      : Value extends null
        ? typeof noText
        : z.ZodUnknown;

const alwaysFields = Object.fromEntries(
  Object.entries(always).map(([name, value]) => [name, shapeOf(value)]),
) as { [Name in keyof Always]: ShapeOf<Always[Name]> };

/** The fields about the organization and the server that clients expect, without settings. */
export const realmAboutState = publicState({
  eventType: 'realm',
  shape: z.object({
    ...alwaysFields,
    realm_uri: text,
    realm_icon_url: text,
    realm_bot_domain: text,
    realm_date_created: integer,
    realm_push_notifications_enabled: flag,
    realm_push_notifications_enabled_end_timestamp: integer.nullable(),
    server_emoji_data_url: text,
    server_web_public_streams_enabled: flag,
    server_generation: integer,
    realm_upload_quota_mib: integer.nullable(),
  }),
  async fetch({ database: { db }, realm, ...server }) {
    const { serverPush, offersWebPublicChannels, startedAt, uploads } = server;
    const { canPush, endTimestamp } = await serverPush.realmPushStatus(db);
    const row = await db.selectFrom('realm').select('created_at').executeTakeFirstOrThrow();
    return {
      ...always,
      server_thumbnail_formats: [],
      realm_uri: realm.url,
      realm_icon_url: realmIconUrl(realm),
      realm_bot_domain: new URL(realm.url).hostname,
      realm_date_created: Math.floor(row.created_at / 1000),
      realm_push_notifications_enabled: canPush,
      realm_push_notifications_enabled_end_timestamp: endTimestamp,
      server_emoji_data_url: `${realm.url}${emojiDataPath}`,
      server_web_public_streams_enabled: offersWebPublicChannels,
      server_generation: Math.floor(startedAt / 1000),
      realm_upload_quota_mib:
        uploads.quotaBytes === undefined ? null : Math.floor(uploads.quotaBytes / mebibyte),
    };
  },
});

function shapeOf(value: unknown): z.ZodType {
  if (typeof value === 'boolean') return flag;
  if (typeof value === 'number') return integer;
  if (typeof value === 'string') return text;
  return value === null ? noText : z.unknown();
}
