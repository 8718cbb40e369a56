import type { MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import { releaseUploads } from '../../../content/uploads/attachment-references.js';
import type { ServerContext } from '../../../context.js';
import type { PublishedEvent } from '../../../platform/event-queues/publish-events.js';
import type { ServerTransaction } from '../../../tables.js';
import type { Channel } from '../../channels/channel-store.js';
import { copiesOfMessage, readersIn } from '../message-readers.js';
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
  /** The user who deletes them, who is always notified. `undefined` if the server deletes them on a schedule. */
  readonly actorId: UserId | undefined;
}

type RemovalContext = Pick<ServerContext, 'clock' | 'database' | 'publish'>;

/**
 * Deletes messages with their copies, edits and upload references, and notifies their readers. Uses a constant number of
 * statements for any number of messages. The caller has locked the channel and the messages.
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
  const losses = await findReaders(transaction, removed, ids);
  await withdrawNotifications(transaction, context, { messageIds: ids });
  await releaseUploads(transaction, ids, clock());
  await db.deleteFrom('user_messages').where('message_id', 'in', amongNumbers(db, ids)).execute();
  await db.deleteFrom('message_edits').where('message_id', 'in', amongNumbers(db, ids)).execute();
  await db.deleteFrom('messages').where('id', 'in', amongNumbers(db, ids)).execute();
  const topic = topicKey(messages[0]?.topic ?? '');
  const events: PublishedEvent[] = losses.flatMap((loss) =>
    removalEvents({ ids: loss.ids, channelId: channel?.id, topic }, loss.audience),
  );
  if (channel === undefined) return publish(transaction, events);
  await noteFirstAndLast(db, [channel.id]);
  await publish(transaction, [...(await firstMessageEvents(db, channel)), ...events]);
}

/** The readers of each message, including the actor, who has a copy if reading needs one. */
async function findReaders(
  { db }: ServerTransaction,
  { messages, channel, actorId }: RemovedMessages,
  ids: readonly MessageId[],
): Promise<Loss[]> {
  const actors = actorId === undefined ? [] : [actorId];
  if (channel === undefined) {
    const [message] = messages;
    const copies = message === undefined ? [] : (await copiesOfMessage(db, message.id)).keys();
    return [{ ids, audience: [...new Set([...copies, ...actors])] }];
  }
  const readers = (await readersIn(db, channel)).map(({ id }) => id);
  const audience = [...new Set([...readers, ...actors])];
  if (channel.isHistoryPublic) return [{ ids, audience }];
  const losses: Loss[] = [];
  for await (const some of lossesAmong(db, audience, ids)) losses.push(...some);
  return losses;
}
