import type { ChannelId, UserId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import { readRealmSetting } from '../../people/realm/realm-setting-store.js';
import { noChannel } from '../../people/realm/realm-settings.js';
import { channelLink } from '../../platform/names/name-in-markdown.js';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import type { Channel } from '../channels/channel-store.js';
import type { SendingContext } from '../messages/insert-messages.js';
import type { RenderingContext } from '../messages/render-content.js';
import { postAsNotificationBot } from './post-notices.js';

type AnnouncementsSetting = 'new_stream_announcements_stream_id' | 'signup_announcements_stream_id';

/**
 * Returns the id of the channel for this kind of announcement, or `undefined` if no channel is set. The caller must
 * lock this channel together with the other channels that it needs.
 */
export async function announcementsChannelId(
  db: Kysely<ServerTables>,
  setting: AnnouncementsSetting,
): Promise<ChannelId | undefined> {
  const id = await readRealmSetting(db, setting);
  return id === noChannel ? undefined : id;
}

/** Announces new channels, except private ones. The caller must have locked the announcements channel. */
export async function announceChannels(
  transaction: ServerTransaction,
  context: SendingContext & RenderingContext,
  { channel, actor }: { readonly channel: Channel; readonly actor: PermissionHolder },
  made: readonly Channel[],
): Promise<void> {
  const names = made.filter(({ isPrivate }) => !isPrivate).map(({ id, name }) => channelLink(id, name));
  if (names.length === 0) return;
  const what = names.length === 1 ? 'a new channel' : 'new channels';
  const text = `@_**|${actor.id}** created ${what}: ${names.join(', ')}.`;
  await postAsNotificationBot(transaction, context, { author: actor, channel, topic: 'new channels' }, [
    text,
  ]);
}

/** Announces that a user joined the organization. The caller must have locked the announcements channel. */
export async function announceNewcomer(
  transaction: ServerTransaction,
  context: SendingContext & RenderingContext,
  channel: Channel,
  userId: UserId,
): Promise<void> {
  const text = `@_**|${userId}** joined this organization.`;
  await postAsNotificationBot(transaction, context, { author: undefined, channel, topic: 'signups' }, [text]);
}
