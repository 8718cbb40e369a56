import type { ChannelId } from '@waxwing/protocol';
import { booleanParameter } from '@waxwing/service/http';
import { z } from 'zod';
import { realmPermissions } from '../permissions/permission-settings.js';
import { maximumWelcomeCharacters } from './realm-limits.js';
import { retentionParameter } from './retention-days.js';
import {
  channelOrNone,
  oneOf,
  percentOf,
  secondsOrUnlimited,
  textOfAtMost,
  wholeNumber,
} from './setting-shapes.js';

/** The role that may change a setting: administrators, or only owners. */
type SettingGuardian = 'administrator' | 'owner';

/** The definition of an organization setting other than a permission. */
export interface RealmSetting<Value> {
  readonly default: Value;
  /** Parses and validates the setting's value in a request. */
  readonly parameter: z.ZodType<Value, string>;
  /** The setting's schema in responses and events. */
  readonly answer: z.ZodType;
  readonly changedBy: SettingGuardian;
  /** The feature level that introduced the setting. 1 if it always existed. */
  readonly since: number;
}

interface Particulars {
  readonly since?: number;
  readonly changedBy?: SettingGuardian;
}

const day = 24 * 60 * 60;
/** A hundred years. */
const maximumWaitingPeriodDays = 36_500;

/** The value for "no channel" in a setting that refers to a channel. */
export const noChannel = -1 as ChannelId;

/** Organization settings other than permissions, with their defaults. */
export const realmSettings = {
  description: setting('', textOfAtMost(1000), z.string()),
  allow_message_editing: flag(true),
  message_content_edit_limit_seconds: timeLimit(600),
  message_content_delete_limit_seconds: timeLimit(600),
  move_messages_within_stream_limit_seconds: timeLimit(7 * day, { since: 162 }),
  move_messages_between_streams_limit_seconds: timeLimit(7 * day, { since: 162 }),
  message_edit_history_visibility_policy: word('all', ['all', 'moves', 'none'], { since: 358 }),
  topics_policy: word('allow_empty_topic', ['allow_empty_topic', 'disable_empty_topic'], { since: 392 }),
  /** Days. -1 means unlimited. */
  message_retention_days: setting(-1, retentionParameter({ unlimited: -1, forever: -1 }), z.number().int(), {
    changedBy: 'owner',
  }),
  waiting_period_threshold: setting(0, wholeNumber(0, maximumWaitingPeriodDays), z.number().int(), {
    changedBy: 'owner',
  }),
  enable_spectator_access: flag(false, { since: 109 }),
  require_unique_names: flag(false, { since: 246 }),
  name_changes_disabled: flag(false),
  email_changes_disabled: flag(false),
  emails_restricted_to_domains: fixedFlag(
    false,
    'must be false: this server cannot restrict domains, so a person who joins by an invitation link may choose any address',
  ),
  invite_required: fixedFlag(true, 'must be true: people can join this server only by an invitation link'),
  enable_read_receipts: flag(false, { since: 137 }),
  welcome_message_custom_text: setting('', textOfAtMost(maximumWelcomeCharacters), z.string(), {
    since: 416,
  }),
  /** The private channel for moderation requests. -1 if no channel is set. */
  moderation_request_channel_id: channel({
    since: 331,
  }),
  /** The channel for announcements of new channels. -1 if no channel is set. */
  new_stream_announcements_stream_id: channel({ since: 241 }),
  /** The channel for announcements of new users. -1 if no channel is set. */
  signup_announcements_stream_id: channel({
    since: 241,
  }),
  send_channel_events_messages: flag(false, { since: 434 }),
  inline_image_preview: flag(true),
  inline_url_embed_preview: flag(false),
  default_code_block_language: setting('', textOfAtMost(40), z.string(), { since: 231 }),
  /** Percent of the default height. */
  media_preview_size: setting<number>(100, percentOf(100, 150, 200), z.number().int(), { since: 469 }),
  require_e2ee_push_notifications: fixedFlag(
    true,
    'must be true: this server sends only encrypted notifications',
    { since: 409 },
  ),
} as const;

export type RealmSettingName = keyof typeof realmSettings;

/** The value types of {@link realmSettings}. */
export type RealmSettingValues = {
  readonly [Name in RealmSettingName]: (typeof realmSettings)[Name] extends RealmSetting<infer Value>
    ? Value
    : never;
};

/** The settings that refer to a channel, and the kind of channel that each accepts. */
export const channelSettings = {
  moderation_request_channel_id: 'private',
  new_stream_announcements_stream_id: 'any',
  signup_announcements_stream_id: 'any',
} as const satisfies Partial<Record<RealmSettingName, 'private' | 'any'>>;

export const channelSettingNames = Object.keys(channelSettings) as (keyof typeof channelSettings)[];

/** Returns whether `name` is a setting other than a permission. */
export function isRealmSettingName(name: string): name is RealmSettingName {
  return Object.hasOwn(realmSettings, name);
}

/** Organization permissions that only owners may change. */
const ownersPermissions: readonly string[] = [
  'can_create_groups',
  'can_invite_users_group',
  'can_manage_all_groups',
  'create_multiuse_invite_group',
] satisfies (keyof typeof realmPermissions)[];

/** Returns the role that may change a setting or permission of the organization. */
export function guardianOf(name: string): SettingGuardian {
  if (isRealmSettingName(name)) return realmSettings[name].changedBy;
  return ownersPermissions.includes(name) ? 'owner' : 'administrator';
}

/** Returns whether `name` is a permission of the organization. */
export function isRealmPermissionName(name: string): name is keyof typeof realmPermissions {
  return Object.hasOwn(realmPermissions, name);
}

function setting<Value>(
  value: Value,
  parameter: z.ZodType<Value, string>,
  answer: z.ZodType,
  { changedBy = 'administrator', since = 1 }: Particulars = {},
): RealmSetting<Value> {
  return { default: value, parameter, answer, changedBy, since };
}

function flag(value: boolean, particulars?: Particulars): RealmSetting<boolean> {
  return setting(value, booleanParameter as z.ZodType<boolean, string>, z.boolean(), particulars);
}

function channel(particulars: Particulars): RealmSetting<ChannelId> {
  return setting(noChannel, channelOrNone(), z.number().int(), particulars);
}

/**
 * Defines a setting that clients know, but whose value is fixed on this server. Otherwise, clients could show a
 * protection as enabled although the server lacks it.
 */
function fixedFlag(value: boolean, reason: string, { since = 1 }: Particulars = {}): RealmSetting<boolean> {
  const parameter = booleanParameter.refine((wanted) => wanted === value, reason);
  return setting(value, parameter.meta({ openApi: { type: 'boolean', enum: [value] } }), z.boolean(), {
    changedBy: 'owner',
    since,
  });
}

/** Defines a time limit in seconds. Null means that there is no limit. */
function timeLimit(seconds: number, particulars?: Particulars): RealmSetting<number | null> {
  return setting<number | null>(seconds, secondsOrUnlimited(), z.number().int().nullable(), particulars);
}

function word<const Word extends string>(
  value: NoInfer<Word>,
  words: readonly [Word, ...Word[]],
  particulars?: Particulars,
): RealmSetting<Word> {
  return setting<Word>(
    value,
    oneOf(words) as z.ZodType<Word, string>,
    z.enum(words) as z.ZodType<Word>,
    particulars,
  );
}
