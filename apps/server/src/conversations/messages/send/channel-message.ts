import { type ChannelId, ProtocolError, refused } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import { holdsPermissions } from '../../../people/permissions/permission-store.js';
import { realmLimits } from '../../../people/realm/realm-limits.js';
import { readRealmSetting } from '../../../people/realm/realm-setting-store.js';
import type { RealmSettingValues } from '../../../people/realm/realm-settings.js';
import type { KnownUser } from '../../../platform/authentication/credential-store.js';
import type { Role } from '../../../platform/authentication/roles.js';
import type { ServerTables } from '../../../tables.js';
import { type ChannelAccess, readChannelAccess } from '../../channels/channel-access.js';
import { maySendTo, seesChannel } from '../../channels/channel-rules.js';
import type { Channel } from '../../channels/channel-store.js';
import { topicKey } from '../message-store.js';
import { checkTopic, cutTopic, readTopic } from '../topic-text.js';
import type { NamedChannel } from './read-destination.js';

/** The input to the rules for sending to a channel. */
export interface ChannelSendingFacts {
  /** `undefined` if the channel does not exist. */
  readonly access: ChannelAccess | undefined;
  readonly settings: Pick<RealmSettingValues, 'topics_policy'>;
  readonly topic: string;
  /** Whether the topic has no messages. */
  readonly isTopicNew: boolean;
}

/** The database, and a function that finds channels and may lock them. */
export interface SendingSource {
  readonly db: Kysely<ServerTables>;
  findChannels(ids: readonly ChannelId[]): Promise<Channel[]>;
}

/** The channel and topic of a message that passed all checks. */
export interface ChannelTarget {
  readonly access: ChannelAccess;
  readonly topic: string;
  readonly isTopicNew: boolean;
}

/**
 * Normalizes a requested topic to its stored form.
 * @throws ProtocolError BAD_REQUEST if the topic is missing or invalid.
 */
export function readNewTopic(text: string | undefined): string {
  if (text === undefined) throw refused('Missing topic');
  const topic = readTopic(text.trim() === '(no topic)' ? '' : text);
  checkTopic(topic, '!');
  return cutTopic(topic);
}

/**
 * Reads the facts about sending to a channel. The source's `findChannels` may lock the channels. A bot may also post if
 * its owner may.
 */
export async function readChannelSending(
  { db, findChannels }: SendingSource,
  actor: KnownUser,
  { named, topic }: { readonly named: NamedChannel; readonly topic: string },
): Promise<ChannelSendingFacts> {
  const channelId = named.kind === 'id' ? named.id : await findChannelId(db, named.name);
  const channels = channelId === undefined ? [] : await findChannels([channelId]);
  const [own] = [...(await readChannelAccess(db, actor, channels)).values()];
  const settings = { topics_policy: await readRealmSetting(db, 'topics_policy') };
  if (own === undefined) return { access: undefined, settings, topic, isTopicNew: false };
  const first = await db
    .selectFrom('messages')
    .select('id')
    .where('channel_id', '=', own.channel.id)
    .where('topic_lower', '=', topicKey(topic))
    .limit(1)
    .executeTakeFirst();
  return {
    access: actor.isBot ? await withRightOfOwner(db, own) : own,
    settings,
    topic,
    isTopicNew: first === undefined,
  };
}

/**
 * Checks whether the sender may post in the channel and topic.
 * @throws ProtocolError STREAM_DOES_NOT_EXIST if the channel does not exist or the sender cannot see it; BAD_REQUEST if
 * the sender may not post in the channel or in this topic.
 */
export function planTarget(
  { access, settings, topic, isTopicNew }: ChannelSendingFacts,
  named: NamedChannel,
): ChannelTarget {
  if (access === undefined || !seesChannel(access)) throw noSuchChannel(named);
  const { channel, held } = access;
  if (!channel.isArchived && !held.has('can_send_message_group'))
    throw refused('You do not have permission to post in this channel.');
  if (!maySendTo(access)) throw refused(`Not authorized to send to channel '${channel.name}'`);
  const policy = channel.topicsPolicy === 'inherit' ? settings.topics_policy : channel.topicsPolicy;
  const { realm_empty_topic_display_name: displayName } = realmLimits;
  const fields = { empty_topic_display_name: displayName };
  if (policy === 'disable_empty_topic' && topic === '')
    throw refused(`Sending messages to "${displayName}" is not allowed in this channel.`, fields);
  if (policy === 'empty_topic_only' && topic !== '')
    throw refused(`Only the "${displayName}" topic is allowed in this channel.`, fields);
  if (isTopicNew && !held.has('can_create_topic_group'))
    throw refused('You do not have permission to create new topics in this channel.');
  return { access, topic, isTopicNew };
}

function noSuchChannel(named: NamedChannel): ProtocolError {
  return named.kind === 'id'
    ? new ProtocolError('STREAM_DOES_NOT_EXIST', {
        message: `Channel with ID '${named.id}' does not exist`,
        fields: { stream_id: named.id },
      })
    : new ProtocolError('STREAM_DOES_NOT_EXIST', {
        message: `Channel '${named.name}' does not exist`,
        fields: { stream: named.name },
      });
}

async function findChannelId(db: Kysely<ServerTables>, name: string): Promise<ChannelId | undefined> {
  const row = await db
    .selectFrom('channels')
    .select('id')
    .where('name_lower', '=', name.toLowerCase())
    .executeTakeFirst();
  return row?.id;
}

async function withRightOfOwner(db: Kysely<ServerTables>, access: ChannelAccess): Promise<ChannelAccess> {
  const { actor, channel, held } = access;
  if (held.has('can_send_message_group')) return access;
  const owner = await db
    .selectFrom('users')
    .select(['id', 'role'])
    .where('is_active', '=', 1)
    .where('id', '=', (users) => users.selectFrom('users').select('bot_owner_id').where('id', '=', actor.id))
    .executeTakeFirst();
  if (owner === undefined) return access;
  const [maySend] = await holdsPermissions(db, { id: owner.id, role: owner.role as Role }, [
    { level: 'channel', ownerId: channel.id, name: 'can_send_message_group' },
  ]);
  return maySend ? { ...access, held: new Set([...held, 'can_send_message_group']) } : access;
}
