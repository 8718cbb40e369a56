import { plainText } from '@waxwing/markdown';
import type { GroupId, MessageId, UserId } from '@waxwing/protocol';
import type { MessageContent, MessageRecipient } from '@waxwing/server-push';
import { unixSeconds } from '@waxwing/service/lifecycle';
import { amongNumbers, keepingRows } from '@waxwing/storage';
import { sql } from 'kysely';
import type { ServerContext } from '../../../context.js';
import { writeAvatar } from '../../../people/users/user-record.js';
import type { ServerTransaction } from '../../../tables.js';
import { guestsWithoutAccess } from '../guests-without-access.js';
import { messageFlags, notifiedBit } from '../message-flags.js';
import { usersInChannel } from '../message-readers.js';
import { type Message, toMessage } from '../message-store.js';
import { hidingUsers, type RelatedRecords, readRelatedRecords } from '../related-records.js';

type Context = Pick<ServerContext, 'realm' | 'serverPush'>;

/** A message and the users to notify. Each of these users has a device. */
export interface NotifyPayload {
  readonly messageId: MessageId;
  readonly userIds: readonly UserId[];
  /**
   * Present only if the message mentions exactly one group. `named` are the users that the message mentions by name.
   */
  readonly groupId?: GroupId;
  readonly named?: readonly UserId[];
  readonly reportId?: string;
}

/**
 * Sends push notifications for a message in its current state, and marks the copies as notified. Skips users who have
 * read the message or lost access. Participants have access, and so do subscribers with a copy.
 */
export async function notifyPhones(
  transaction: ServerTransaction,
  { realm, serverPush }: Context,
  { messageId, userIds, groupId, named = [], reportId }: NotifyPayload,
  giveUpAt: number,
): Promise<void> {
  const { db } = transaction;
  const row = await db
    .selectFrom('messages')
    .selectAll()
    .where('id', '=', messageId)
    .modifyEnd(keepingRows(db))
    .executeTakeFirst();
  if (row === undefined) return;
  const message = toMessage(row);
  const stillThere = await keepSubscribers(transaction, message, userIds);
  const readers = await markNotified(transaction, message, stillThere);
  if (readers.length === 0) return;
  const related = await readRelatedRecords(db, realm, [message]);
  const copies = readers.map(({ user_id: userId, flags }) => ({ userId, flags }));
  const hidden = await guestsWithoutAccess(db, [{ message, copies }], related);
  const content = writeContent(message, related);
  const ofUnknown = writeContent(
    message,
    hidingUsers(related, () => false),
  );
  const group = groupId === undefined ? undefined : await readGroup(transaction, groupId);
  for (const { user_id: userId, flags } of readers) {
    const isForGroup = (flags & messageFlags.group_mentioned) !== 0 && !named.includes(userId);
    const isHidden = hidden.get(message.senderId)?.has(userId) ?? false;
    const ofGroup = group !== undefined && isForGroup ? { mentionedUserGroup: group } : {};
    const ofReader = { ...(isHidden ? ofUnknown : content), ...ofGroup };
    await serverPush.notify([userId], { content: ofReader, giveUpAt, reportId }, transaction);
  }
}

/**
 * Filters users by subscription to the message's channel; for direct messages, keeps all users. Takes a shared lock on
 * the subscriptions until the transaction ends: if a user leaves the channel after that, the job that retracts
 * notifications also finds this notification.
 */
async function keepSubscribers(
  { db }: ServerTransaction,
  { channelId }: Message,
  userIds: readonly UserId[],
): Promise<readonly UserId[]> {
  if (channelId === undefined) return userIds;
  const rows = await usersInChannel(db, channelId)
    .where('user_id', 'in', amongNumbers(db, userIds))
    .orderBy('user_id')
    .modifyEnd(keepingRows(db))
    .execute();
  return rows.map(({ user_id }) => user_id);
}

/** Marks the unread copies of active users as notified. Returns these users with the flags of their copies. */
async function markNotified(
  { db }: ServerTransaction,
  { id }: Message,
  userIds: readonly UserId[],
): Promise<{ user_id: UserId; flags: number }[]> {
  return db
    .updateTable('user_messages')
    .set((copy) => ({ flags: sql<number>`${copy.ref('flags')} | ${sql.raw(String(notifiedBit))}` }))
    .where('message_id', '=', id)
    .where('user_id', 'in', amongNumbers(db, userIds))
    .where(sql<boolean>`flags & ${sql.raw(String(messageFlags.read | notifiedBit))} = 0`)
    .where('user_id', 'in', (users) => users.selectFrom('users').select('id').where('is_active', '=', 1))
    .returning(['user_id', 'flags'])
    .execute();
}

function writeContent(message: Message, related: RelatedRecords): MessageContent {
  const { realm } = related;
  const sender = related.user(message.senderId);
  const avatar = writeAvatar(sender, { realm, clientMakesAvatars: false }) ?? '';
  return {
    type: 'message',
    messageId: message.id,
    time: unixSeconds(message.sentAt),
    content: plainText(message.renderedContent),
    senderId: sender.id,
    senderFullName: sender.fullName,
    senderAvatarUrl: new URL(avatar, `${realm.url}/`).href,
    recipient: writeRecipient(message, related),
  };
}

function writeRecipient(
  { channelId, conversationId, topic }: Message,
  related: RelatedRecords,
): MessageRecipient {
  if (channelId === undefined)
    return { kind: 'direct', userIds: related.participantsOf(conversationId as number) };
  return { kind: 'channel', channelId, channelName: related.channelName(channelId), topic };
}

async function readGroup(
  { db }: ServerTransaction,
  id: GroupId,
): Promise<MessageContent['mentionedUserGroup']> {
  const row = await db.selectFrom('user_groups').select('name').where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : { id, name: row.name ?? '' };
}
