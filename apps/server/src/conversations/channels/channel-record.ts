import type { ChannelId, JsonObject } from '@waxwing/protocol';
import { unixSeconds } from '@waxwing/service/lifecycle';
import { z } from 'zod';
import {
  type GroupSettingValue,
  groupSettingAnswer,
  writeValue,
} from '../../people/permissions/group-setting-value.js';
import { type PermissionName, permissionNames } from '../../people/permissions/permission-settings.js';
import type { PermissionValues } from '../../people/permissions/permission-store.js';
import type { RoleGroupName } from '../../people/permissions/role-groups.js';
import type { Channel } from './channel-store.js';
import { adminsOnly, postPolicy } from './post-policy.js';
import { isRecentlyActive } from './recent-activity.js';

const permissionFields = Object.fromEntries(
  permissionNames('channel').map((name) => [name, groupSettingAnswer]),
) as Record<PermissionName<'channel'>, typeof groupSettingAnswer>;

/** A channel in responses and events. */
export const channelRecord = z
  .object({
    stream_id: z.number().int(),
    name: z.string(),
    description: z.string(),
    /** HTML. */
    rendered_description: z.string(),
    /** Unix seconds. */
    date_created: z.number().int(),
    creator_id: z.number().int().nullable(),
    invite_only: z.boolean(),
    is_web_public: z.boolean(),
    history_public_to_subscribers: z.boolean(),
    is_archived: z.boolean(),
    first_message_id: z.number().int().nullable(),
    /** Null means the organization's setting, and -1 means unlimited. */
    message_retention_days: z.number().int().nullable(),
    folder_id: z.number().int().nullable(),
    topics_policy: z.string(),
    default_push_notifications: z.boolean(),
    /** Messages per week. Null for channels younger than a week. */
    stream_weekly_traffic: z.number().int().nullable(),
    subscriber_count: z.number().int(),
    is_recently_active: z.boolean(),
    /** Legacy equivalents of `can_send_message_group`: this field and the next. */
    stream_post_policy: z.number().int(),
    is_announcement_only: z.boolean(),
    ...permissionFields,
  })
  .meta({ schemaName: 'Channel' });

export type ChannelRecord = z.input<typeof channelRecord> & JsonObject & { readonly stream_id: ChannelId };

/** The related records that are needed to build a channel's record. */
export interface RelatedRecords {
  readonly permissions: PermissionValues<'channel'>;
  /** Active users only. */
  readonly subscriberCount: number;
  /** Messages per week. Null for channels younger than a week. */
  readonly weeklyTraffic: number | null;
  readonly roleGroups: ReadonlyMap<RoleGroupName, number>;
  /** Unix milliseconds. */
  readonly now: number;
}

/** Builds the record of a channel for responses and events. */
export function writeChannel(channel: Channel, related: RelatedRecords): ChannelRecord {
  const { permissions, subscriberCount, weeklyTraffic, roleGroups, now } = related;
  const policy = postPolicy(permissions.can_send_message_group, roleGroups);
  return {
    stream_id: channel.id,
    name: channel.name,
    description: channel.description,
    rendered_description: channel.renderedDescription,
    date_created: unixSeconds(channel.createdAt),
    creator_id: channel.creatorId ?? null,
    invite_only: channel.isPrivate,
    is_web_public: channel.isWebPublic,
    history_public_to_subscribers: channel.isHistoryPublic,
    is_archived: channel.isArchived,
    first_message_id: channel.firstMessageId ?? null,
    message_retention_days: channel.retentionDays ?? null,
    folder_id: channel.folderId ?? null,
    topics_policy: channel.topicsPolicy,
    default_push_notifications: channel.notifiesPhones,
    stream_weekly_traffic: weeklyTraffic,
    subscriber_count: subscriberCount,
    is_recently_active: isRecentlyActive(channel, now),
    stream_post_policy: policy,
    is_announcement_only: policy === adminsOnly,
    ...(Object.fromEntries(
      Object.entries<GroupSettingValue>(permissions).map(([name, value]) => [name, writeValue(value)]),
    ) as Record<PermissionName<'channel'>, z.input<typeof groupSettingAnswer>>),
  };
}
