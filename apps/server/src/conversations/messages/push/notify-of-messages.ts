import type { GroupId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { ExpressionBuilder, Kysely } from 'kysely';
import type { ServerContext } from '../../../context.js';
import { noChannel } from '../../../people/realm/realm-settings.js';
import { readStored, storedSetting } from '../../../people/user-settings/user-setting-store.js';
import type { ServerTables, ServerTransaction } from '../../../tables.js';
import type { SentMessage } from '../message-events.js';
import { messageFlags } from '../message-flags.js';
import { topicKey } from '../message-store.js';
import { enqueueJob } from '../transaction-jobs.js';
import { notifyOfMessageJob } from './message-jobs.js';
import {
  isNotified,
  type NotificationFacts,
  type PushSettings,
  pushSettingNames,
} from './select-notified-users.js';

/** A message that may cause push notifications, with its copies and mentions. */
type NotifiableMessage = Pick<SentMessage, 'message' | 'copies'> & {
  readonly rendered: Pick<SentMessage['rendered'], 'mentions'>;
};

const anyMention =
  messageFlags.mentioned | messageFlags.stream_wildcard_mentioned | messageFlags.topic_wildcard_mentioned;

/**
 * Like {@link notifyOfMessages}, after an edit: notifies users if the new text mentions them in a way that the old text
 * did not, such as by name instead of by a wildcard. Skips users who were already notified of the message. Does nothing
 * for direct messages, because all participants were notified when the message was sent.
 */
export async function notifyOfNewMentions(
  transaction: ServerTransaction,
  context: Pick<ServerContext, 'clock' | 'database'>,
  edited: NotifiableMessage,
  flagsBefore: ReadonlyMap<UserId, number>,
): Promise<void> {
  if (edited.message.channelId === undefined) return;
  const copies = edited.copies.filter(
    ({ userId, flags }) => (flags & ~(flagsBefore.get(userId) ?? 0) & anyMention) !== 0,
  );
  await notifyOfMessages(transaction, context, [{ ...edited, copies }]);
}

/**
 * Enqueues push notifications for new messages, in the transaction that sends the messages. Returns the users to
 * notify. With a `reportId`, stores the relay's result for each device under that id.
 */
export async function notifyOfMessages(
  transaction: ServerTransaction,
  context: Pick<ServerContext, 'clock' | 'database'>,
  sent: readonly NotifiableMessage[],
  reportId?: string,
): Promise<ReadonlySet<UserId>> {
  const notified = new Set<UserId>();
  for (const each of sent) {
    const userIds = await selectNotifiedUsers(transaction.db, each);
    if (userIds.length === 0) continue;
    for (const userId of userIds) notified.add(userId);
    const { groupIds, userIds: named } = each.rendered.mentions;
    await enqueueJob(transaction, context, notifyOfMessageJob, {
      messageId: each.message.id,
      userIds,
      ...(reportId === undefined ? {} : { reportId }),
      // Names the group only if the message mentions exactly one. With several groups, it is unknown which one a user
      // is in.
      ...(groupIds.length === 1 ? { groupId: groupIds[0] as GroupId, named } : {}),
    });
  }
  return notified;
}

async function selectNotifiedUsers(
  db: Kysely<ServerTables>,
  { message, copies }: NotifiableMessage,
): Promise<UserId[]> {
  const others = copies.filter(({ userId }) => userId !== message.senderId);
  if (others.length === 0) return [];
  const facts = await readFacts(
    db,
    message,
    others.map(({ userId }) => userId),
  );
  return others.flatMap(({ userId, flags }) => {
    const status = facts.get(userId);
    return status !== undefined && isNotified({ ...status, flags }) ? [userId] : [];
  });
}

/** Returns the notification settings and subscriptions of the users with a registered device. */
async function readFacts(
  db: Kysely<ServerTables>,
  { channelId, topic }: SentMessage['message'],
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, Omit<NotificationFacts, 'flags'>>> {
  const rows = await db
    .selectFrom('users')
    .leftJoin('subscriptions', (join) =>
      join
        .onRef('subscriptions.user_id', '=', 'users.id')
        .on('subscriptions.channel_id', '=', channelId ?? noChannel),
    )
    .leftJoin('user_topics', (join) =>
      join
        .onRef('user_topics.user_id', '=', 'users.id')
        .on('user_topics.channel_id', '=', channelId ?? noChannel)
        .on('user_topics.topic_lower', '=', topicKey(topic)),
    )
    .select([
      'users.id',
      'subscriptions.is_muted',
      'subscriptions.push_notifications',
      'subscriptions.wildcard_mentions_notify as channel_wildcards_notify',
      'user_topics.visibility_policy',
    ])
    .select(pushSettingNames.map((name) => storedSetting(name, 'users.id')))
    .where('users.id', 'in', amongNumbers(db, userIds))
    .where(hasPhone)
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      {
        isDirect: channelId === undefined,
        isChannelMuted: row.is_muted === 1,
        topicPolicy: row.visibility_policy ?? 0,
        pushesChannel: wanted(row.push_notifications),
        wildcardsNotify: wanted(row.channel_wildcards_notify),
        settings: Object.fromEntries(
          pushSettingNames.map((name) => [name, readStored(row, name)]),
        ) as PushSettings,
      },
    ]),
  );
}

/**
 * Returns an SQL condition that is true if the user has a phone to notify. It is evaluated per user, because a list
 * of all users with a phone would be rebuilt for each message.
 */
function hasPhone({ exists, or, selectFrom }: ExpressionBuilder<ServerTables, 'users'>) {
  const pushDevices = selectFrom('push_devices')
    .select('push_devices.id')
    .whereRef('push_devices.user_id', '=', 'users.id')
    .where('push_devices.relay_device_id', 'is not', null);
  const clientDevices = selectFrom('client_devices')
    .select('client_devices.id')
    .whereRef('client_devices.user_id', '=', 'users.id')
    .where('client_devices.push_token_id', 'is not', null);
  return or([exists(pushDevices), exists(clientDevices)]);
}

function wanted(value: number | null): boolean | undefined {
  return value === null ? undefined : value === 1;
}
