import { type ChannelId, type MessageId, ProtocolError } from '@waxwing/protocol';
import { type Channel, lockChannels } from '../channels/channel-store.js';
import type { PermissionHolder } from '../permissions/permission-store.js';
import type { ServerTransaction } from '../tables.js';
import { isReadable } from './message-access.js';
import { lockMessages, type Message } from './message-store.js';

/** A message that stays as it is until the transaction ends, and so do the channels; `undefined` where it cannot be read. */
export interface HeldMessage {
  readonly message: Message | undefined;
  readonly channels: readonly Channel[];
}

/**
 * Locks the message's channel and these others, in ascending order, and then the message. `moved` where it went to another
 * channel meanwhile: then its locks have to be taken again, in another transaction.
 */
export async function holdMessage(
  transaction: ServerTransaction,
  actor: PermissionHolder,
  id: MessageId,
  otherChannelIds: readonly ChannelId[] = [],
): Promise<HeldMessage | 'moved'> {
  const { db } = transaction;
  const place = await db.selectFrom('messages').select('channel_id').where('id', '=', id).executeTakeFirst();
  const own = place?.channel_id ?? undefined;
  const channels = await lockChannels(transaction, [...(own === undefined ? [] : [own]), ...otherChannelIds]);
  const [message] = await lockMessages(transaction, [id]);
  if (message === undefined) return { message, channels };
  if (message.channelId !== own) return 'moved';
  const readable = await db
    .selectFrom('messages')
    .select('id')
    .where('id', '=', id)
    .where(isReadable(actor))
    .executeTakeFirst();
  return { message: readable && message, channels };
}

const maximumTries = 10;

/**
 * Does something with a message until it stays in one channel meanwhile.
 * @throws ProtocolError SERVICE_UNAVAILABLE when it never does.
 */
export async function inOneChannel<Result>(attempt: () => Promise<Result | 'moved'>): Promise<Result> {
  for (let tries = 0; tries < maximumTries; tries++) {
    const result = await attempt();
    if (result !== 'moved') return result;
  }
  throw new ProtocolError('SERVICE_UNAVAILABLE', {
    message: 'The message is being moved from channel to channel: ask again.',
  });
}
