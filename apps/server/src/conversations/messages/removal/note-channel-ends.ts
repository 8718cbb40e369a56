import type { ChannelId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import { sql, type Transaction } from 'kysely';
import type { EventsToPublish } from '../../../platform/event-queues/published-event.js';
import type { ServerTables } from '../../../tables.js';
import { readAudience } from '../../channels/channel-audience.js';
import { type Channel, findChannels } from '../../channels/channel-store.js';
import { endOfChannel } from '../end-of-channel.js';

type Db = Transaction<ServerTables>;

/** Recomputes `first_message_id` and `last_message_at` of channels after messages were added or removed. */
export async function noteFirstAndLast(db: Db, channelIds: readonly ChannelId[]): Promise<void> {
  await sql`
    update channels
    set first_message_id = (${endOfChannel('oldest', 'id')}),
      last_message_at = (${endOfChannel('newest', 'sent_at')})
    where id in ${amongNumbers(db, channelIds)}`.execute(db);
}

/**
 * If the channel's first message has changed, builds the event for users who can see the channel. Otherwise returns an
 * empty list.
 */
export async function firstMessageEvents(db: Db, before: Channel): Promise<EventsToPublish> {
  const [now] = await findChannels(db, [before.id]);
  if (now === undefined || now.firstMessageId === before.firstMessageId) return [];
  const event = {
    type: 'stream',
    op: 'update',
    stream_id: now.id,
    name: now.name,
    property: 'first_message_id',
    value: now.firstMessageId ?? null,
  };
  return {
    types: [event.type],
    build: async (owners) => [
      { event, audience: (await readAudience(db, { channel: now }, owners)).seeing() },
    ],
  };
}
