import { type ChannelId, type MessageId, ProtocolError } from '@waxwing/protocol';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import type { ServerTransaction } from '../../tables.js';
import { type Channel, lockChannels } from '../channels/channel-store.js';
import { isReadable } from './message-access.js';
import { lockMessages, type Message } from './message-store.js';

/**
 * A message and its channels, locked until the transaction ends. `message` is `undefined` if the actor may not read it.
 */
export interface LockedMessage {
  readonly message: Message | undefined;
  readonly channels: readonly Channel[];
}

/**
 * Locks the message's channel and the given channels, in ascending order, and then the message. Returns `moved` if
 * the message moved to another channel before it was locked. The caller must then retry in a new transaction.
 */
export async function lockMessage(
  transaction: ServerTransaction,
  actor: PermissionHolder,
  id: MessageId,
  otherChannelIds: readonly ChannelId[] = [],
): Promise<LockedMessage | 'moved'> {
  const { db } = transaction;
  const location = await db
    .selectFrom('messages')
    .select('channel_id')
    .where('id', '=', id)
    .executeTakeFirst();
  const own = location?.channel_id ?? undefined;
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
 * Runs `attempt`, and retries it while the message moves to another channel concurrently. Makes at most 10 attempts.
 * @throws ProtocolError SERVICE_UNAVAILABLE if every attempt returns `moved`.
 */
export async function inOneChannel<Result>(attempt: () => Promise<Result | 'moved'>): Promise<Result> {
  for (let tries = 0; tries < maximumTries; tries++) {
    const result = await attempt();
    if (result !== 'moved') return result;
  }
  throw new ProtocolError('SERVICE_UNAVAILABLE', {
    message: 'The message is being moved between channels: try again.',
  });
}
