import type { MessageId, UserId } from '@waxwing/protocol';
import { type Kysely, sql } from 'kysely';
import type { ServerTables } from '../../../tables.js';
import { notifiedBit } from '../message-flags.js';

/**
 * Returns whether a pending push notification is still valid. It is not if the message was read, deleted or moved to a
 * channel that the user is not subscribed to, or if the user has left the channel.
 */
export async function isStillNotified(
  db: Kysely<ServerTables>,
  userId: UserId,
  messageId: MessageId,
): Promise<boolean> {
  const row = await db
    .selectFrom('user_messages')
    .innerJoin('messages', 'messages.id', 'user_messages.message_id')
    .leftJoin('subscriptions', (join) =>
      join
        .onRef('subscriptions.channel_id', '=', 'messages.channel_id')
        .on('subscriptions.user_id', '=', userId)
        .on('subscriptions.is_active', '=', 1),
    )
    .select('messages.id')
    .where('user_messages.user_id', '=', userId)
    .where('user_messages.message_id', '=', messageId)
    .where(sql<boolean>`user_messages.flags & ${sql.raw(String(notifiedBit))} <> 0`)
    .where((is) =>
      is.or([is('messages.channel_id', 'is', null), is('subscriptions.user_id', 'is not', null)]),
    )
    .executeTakeFirst();
  return row !== undefined;
}
