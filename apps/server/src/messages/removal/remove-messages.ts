import type { MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { Channel } from '../../channels/channel-store.js';
import type { ServerContext } from '../../context.js';
import type { PublishedEvent } from '../../event-queues/publish-events.js';
import type { ServerTransaction } from '../../tables.js';
import { releaseUploads } from '../../uploads/attachment-references.js';
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
  /** Who deletes them, and is told of it in any case; `undefined` where the server does it by the clock. */
  readonly actorId: UserId | undefined;
}

type RemovalContext = Pick<ServerContext, 'clock' | 'database' | 'publish'>;

/**
 * Removes messages with everything that hangs on them, and tells those who could read them, in a number of statements that
 * does not grow with them. The caller has locked their channel, and them.
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

/** Who could read which of the messages; the actor is among them, who has a copy where that is needed for reading. */
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
