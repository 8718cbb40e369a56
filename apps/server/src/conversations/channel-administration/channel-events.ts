import type { JsonObject, UserId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import { type GroupSettingValue, writeValue } from '../../people/permissions/group-setting-value.js';
import type { RoleGroupName } from '../../people/permissions/role-groups.js';
import type { EventsForOwners, PublishedEvent } from '../../platform/event-queues/published-event.js';
import type { ServerTables } from '../../tables.js';
import { type AudienceOfChannel, readAudience } from '../channels/channel-audience.js';
import type { Channel } from '../channels/channel-store.js';
import { readSubscribers } from '../channels/channel-subscribers.js';
import { adminsOnly, postPolicy } from '../channels/post-policy.js';
import { readChannelRecords } from '../channels/read-channel-records.js';
import { channelGone } from '../channels/subscription-events.js';
import type { ChannelChange } from './channel-update.js';

/** A channel before and after a change. */
export interface ChangedChannel {
  readonly change: ChannelChange;
  readonly before: Channel;
  readonly after: Channel;
  /** The channel's permissions before the change. */
  readonly permissionsBefore: NonNullable<AudienceOfChannel['permissions']>;
  readonly roleGroups: ReadonlyMap<RoleGroupName, number>;
  /** Unix milliseconds. */
  readonly now: number;
}

const capability = 'archived_channels';

/**
 * Builds the events for a channel change, in order. Users who could not see the channel before get the channel and its
 * subscribers. Users who can no longer see it get a deletion event, or no event if the channel became private. All
 * other users who can see it get one event per changed property. Clients without the `archived_channels` capability get
 * no events about archived channels. To these clients, an unarchived channel is a new channel.
 */
export function eventsOfChannelChange(db: Kysely<ServerTables>, changed: ChangedChannel): EventsForOwners {
  const { before, after, permissionsBefore } = changed;
  return {
    types: ['stream', 'subscription'],
    async build(owners) {
      const audienceBefore = await readAudience(
        db,
        { channel: before, permissions: permissionsBefore },
        owners,
      );
      const readersBefore = new Set(audienceBefore.seeing());
      const readers = (await readAudience(db, { channel: after }, owners)).seeing();
      const gained = readers.filter((id) => !readersBefore.has(id));
      const isUnarchived = before.isArchived && !after.isArchived;
      // Reads the subscriber list and count only if the channel has new readers, because the list can be long.
      const isCreated = isUnarchived ? readers.length > 0 : gained.length > 0;
      const created = isCreated ? await creation(db, after, changed.now) : [];
      return notifiedOfChange(changed, { readersBefore, readers, gained, created });
    },
  };
}

interface Readers {
  readonly readersBefore: ReadonlySet<UserId>;
  readonly readers: readonly UserId[];
  readonly gained: readonly UserId[];
  /** The events for users who could not see the channel before. Empty if there are no such users. */
  readonly created: readonly JsonObject[];
}

function notifiedOfChange(
  changed: ChangedChannel,
  { readersBefore, readers, gained, created }: Readers,
): PublishedEvent[] {
  const { before, after } = changed;
  const keeping = readers.filter((id) => readersBefore.has(id));
  const lost = after.isPrivate && !before.isPrivate ? [] : without([...readersBefore], readers);
  const notified = [
    ...notifiedOf(created, gained),
    ...changeEvents(changed).flatMap((event) => notifiedOf([event], keeping)),
    ...notifiedOf([channelGone(after.id)], lost),
  ];
  if (!before.isArchived) return notified;
  const forCapable = notified.map((each) => ({ ...each, onlyFor: { capability, isLocked: true } as const }));
  if (after.isArchived) return forCapable;
  const unarchived = notifiedOf(created, readers);
  return [
    ...forCapable,
    ...unarchived.map((each) => ({ ...each, onlyFor: { capability, isLocked: false } as const })),
  ];
}

/** Builds the events for users who could not see the channel before. */
async function creation(db: Kysely<ServerTables>, channel: Channel, now: number): Promise<JsonObject[]> {
  const records = await readChannelRecords(db, [channel], now);
  const create = { type: 'stream', op: 'create', streams: [...records.values()] };
  const userIds = (await readSubscribers(db, [channel.id])).get(channel.id);
  if (userIds === undefined) return [create];
  const peers = { type: 'subscription', op: 'peer_add', stream_ids: [channel.id], user_ids: userIds };
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

/** Builds the updates of the legacy fields that mirror the posting permission. Empty if these fields did not change. */
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

/** Builds the events for an archived channel. Clients without the `archived_channels` capability see it as deleted. */
export function eventsOfArchiving(db: Kysely<ServerTables>, channel: Channel): EventsForOwners {
  const update = {
    type: 'stream',
    op: 'update',
    stream_id: channel.id,
    name: channel.name,
    property: 'is_archived',
    value: true,
  };
  return {
    types: ['stream'],
    async build(owners) {
      const audience = (await readAudience(db, { channel }, owners)).seeing();
      return [
        { event: update, audience, onlyFor: { capability, isLocked: true } },
        { event: channelGone(channel.id), audience, onlyFor: { capability, isLocked: false } },
      ];
    },
  };
}
