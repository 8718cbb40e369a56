import type { MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { releaseUploads } from '../../../content/uploads/attachment-references.js';
import type { ServerContext } from '../../../context.js';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import type { EventsToPublish } from '../../../platform/event-queues/published-event.js';
import type { ServerTables, ServerTransaction } from '../../../tables.js';
import { readAudience } from '../../channels/channel-audience.js';
import type { Channel } from '../../channels/channel-store.js';
import { copiesOfMessage, holdersOf } from '../message-readers.js';
import { type Message, topicKey } from '../message-store.js';
import { withdrawNotifications } from '../push/withdraw-notifications.js';
import { type Loss, lossesAmong } from './losses.js';
import { firstMessageEvents, noteFirstAndLast } from './note-channel-ends.js';
import { removalEvents } from './removal-events.js';

/** Messages of one topic or conversation, in ascending order of their ids. */
export interface RemovedMessages {
  readonly messages: readonly Message[];
  /** `undefined` for direct messages. */
  readonly channel: Channel | undefined;
  /**
   * The user who deletes the messages. This user is always notified. `undefined` if a scheduled job deletes the
   * messages.
   */
  readonly actorId: UserId | undefined;
}

type RemovalContext = Pick<ServerContext, 'clock' | 'database' | 'publish'>;

/**
 * Deletes messages with their copies, edits and upload references, and notifies their readers. Runs a constant number
 * of statements. The caller must have locked the channel and the messages.
 */
export async function removeMessages(
  transaction: ServerTransaction,
  context: RemovalContext,
  removed: RemovedMessages,
): Promise<void> {
  const { messages, channel } = removed;
  const { clock, publish } = context;
  const { db } = transaction;
  const ids = messages.map(({ id }) => id);
  const events = await eventsOfRemoval(db, removed, ids);
  await withdrawNotifications(transaction, context, { messageIds: ids });
  await releaseUploads(transaction, ids, clock());
  await db.deleteFrom('user_messages').where('message_id', 'in', amongNumbers(db, ids)).execute();
  await db.deleteFrom('message_edits').where('message_id', 'in', amongNumbers(db, ids)).execute();
  await db.deleteFrom('messages').where('id', 'in', amongNumbers(db, ids)).execute();
  if (channel !== undefined) {
    await noteFirstAndLast(db, [channel.id]);
    await publish(transaction, await firstMessageEvents(db, channel));
  }
  await publish(transaction, events);
}

/** Builds the events for the readers of each message. The readers include the actor. */
async function eventsOfRemoval(
  db: Kysely<ServerTables>,
  { messages, channel, actorId }: RemovedMessages,
  ids: readonly MessageId[],
): Promise<EventsToPublish> {
  const actors = actorId === undefined ? [] : [actorId];
  const gone = { channelId: channel?.id, topic: topicKey(messages[0]?.topic ?? '') };
  if (channel === undefined) {
    const [message] = messages;
    const copies = message === undefined ? [] : (await copiesOfMessage(db, message.id)).keys();
    return removalEvents({ ...gone, ids }, [...new Set([...copies, ...actors])]);
  }
  const readersAmong = async (among: readonly PermissionHolder[]) => {
    const readers = (await readAudience(db, { channel }, among)).reading();
    return [...new Set([...readers.map(({ id }) => id), ...actors])];
  };
  if (channel.isHistoryPublic) {
    return {
      types: ['delete_message'],
      build: async (owners) => removalEvents({ ...gone, ids }, await readersAmong(owners)),
    };
  }
  const losses: Loss[] = [];
  for await (const some of lossesAmong(db, await readersAmong(await holdersOf(db, ids)), ids))
    losses.push(...some);
  return losses.flatMap((loss) => removalEvents({ ...gone, ids: loss.ids }, loss.audience));
}
