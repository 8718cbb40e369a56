import type { JsonObject, UserId } from '@waxwing/protocol';
import { type GroupSettingValue, writeValue } from '../../people/permissions/group-setting-value.js';
import type { RoleGroupName } from '../../people/permissions/role-groups.js';
import type { PublishedEvent } from '../../platform/event-queues/publish-events.js';
import { type ChannelAudience, readersOfChannel } from '../channels/channel-audience.js';
import type { ChannelRecord } from '../channels/channel-record.js';
import type { Channel } from '../channels/channel-store.js';
import { adminsOnly, postPolicy } from '../channels/post-policy.js';
import { channelGone } from '../channels/subscription-events.js';
import type { ChannelChange } from './channel-update.js';

/** A channel before and after a change, with its audiences. */
export interface ChangedChannel {
  readonly change: ChannelChange;
  readonly before: Channel;
  readonly after: Channel;
  readonly audienceBefore: ChannelAudience;
  readonly audienceAfter: ChannelAudience;
  /** The channel after the change. */
  readonly record: ChannelRecord;
  readonly roleGroups: ReadonlyMap<RoleGroupName, number>;
}

const capability = 'archived_channels';

/**
 * The events of a channel change, in order. Users who gain visibility get the channel and its subscribers. Users who
 * lose it get the channel's deletion. All others get one event per changed property. A channel that becomes private
 * sends nothing to users who are not subscribed. Clients without the `archived_channels` capability get no events about
 * archived channels, and see unarchiving as a creation.
 */
export function eventsOfChannelChange(changed: ChangedChannel): PublishedEvent[] {
  const { before, after, audienceBefore, audienceAfter, record } = changed;
  const readersBefore = new Set(readersOfChannel(audienceBefore, before));
  const readers = readersOfChannel(audienceAfter, after);
  const gained = readers.filter((id) => !readersBefore.has(id));
  const keeping = readers.filter((id) => readersBefore.has(id));
  const lost = after.isPrivate && !before.isPrivate ? [] : without([...readersBefore], readers);
  const notified = [
    ...notifiedOf(creation(record, audienceAfter), gained),
    ...changeEvents(changed).flatMap((event) => notifiedOf([event], keeping)),
    ...notifiedOf([channelGone(after.id)], lost),
  ];
  if (!before.isArchived) return notified;
  const forCapable = notified.map((each) => ({ ...each, onlyFor: { capability, isLocked: true } as const }));
  if (after.isArchived) return forCapable;
  const unarchived = notifiedOf(creation(record, audienceAfter), readers);
  return [
    ...forCapable,
    ...unarchived.map((each) => ({ ...each, onlyFor: { capability, isLocked: false } as const })),
  ];
}

/** The events for users who can see a channel only now. */
function creation(record: ChannelRecord, { subscribersOf }: ChannelAudience): JsonObject[] {
  const create = { type: 'stream', op: 'create', streams: [record] };
  const userIds = subscribersOf(record.stream_id);
  if (userIds.length === 0) return [create];
  const peers = {
    type: 'subscription',
    op: 'peer_add',
    stream_ids: [record.stream_id],
    user_ids: [...userIds],
  };
  return [create, peers];
}

function changeEvents({ change, before, after, roleGroups }: ChangedChannel): JsonObject[] {
  const {
    privacy,
    topicsPolicy,
    notifiesPhones,
    retentionDays,
    isArchived,
    description,
    name,
    folderId,
    permissions,
  } = change;
  const update = (property: string, value: JsonObject[string], fields: JsonObject = {}): JsonObject => ({
    type: 'stream',
    op: 'update',
    stream_id: after.id,
    // Clients know the channel by its previous name.
    name: before.name,
    property,
    value,
    ...fields,
  });
  const given = (property: string, value: JsonObject[string] | undefined, fields?: JsonObject) =>
    value === undefined ? [] : [update(property, value, fields)];
  return [
    ...given('invite_only', privacy?.isPrivate, {
      history_public_to_subscribers: after.isHistoryPublic,
      is_web_public: after.isWebPublic,
    }),
    ...given('topics_policy', topicsPolicy),
    ...given('default_push_notifications', notifiesPhones),
    ...given('message_retention_days', retentionDays),
    ...given('is_archived', isArchived),
    ...given('description', description, { rendered_description: after.renderedDescription }),
    ...given('name', name),
    ...given('folder_id', folderId),
    ...permissions.flatMap((each) => [
      update(each.name, writeValue(each.value)),
      ...(each.name === 'can_send_message_group' ? mirrors(each, roleGroups, update) : []),
    ]),
  ];
}

/** Updates of the legacy fields of the posting permission. Empty if they did not change. */
function mirrors(
  { before, value }: { readonly before: GroupSettingValue; readonly value: GroupSettingValue },
  roleGroups: ReadonlyMap<RoleGroupName, number>,
  update: (property: string, value: JsonObject[string]) => JsonObject,
): JsonObject[] {
  const [was, is] = [postPolicy(before, roleGroups), postPolicy(value, roleGroups)];
  if (was === is) return [];
  return [update('stream_post_policy', is), update('is_announcement_only', is === adminsOnly)];
}

function without(ids: readonly UserId[], others: readonly UserId[]): UserId[] {
  const gone = new Set(others);
  return ids.filter((id) => !gone.has(id));
}

function notifiedOf(events: readonly JsonObject[], audience: readonly UserId[]): PublishedEvent[] {
  return audience.length === 0 ? [] : events.map((event) => ({ event, audience: [...audience] }));
}

/** The events of archiving a channel. Clients without the `archived_channels` capability see it as deleted. */
export function eventsOfArchiving(channel: Channel, audience: ChannelAudience): PublishedEvent[] {
  const readers = readersOfChannel(audience, channel);
  const update = {
    type: 'stream',
    op: 'update',
    stream_id: channel.id,
    name: channel.name,
    property: 'is_archived',
    value: true,
  };
  return [
    { event: update, audience: readers, onlyFor: { capability, isLocked: true } },
    { event: channelGone(channel.id), audience: readers, onlyFor: { capability, isLocked: false } },
  ];
}
