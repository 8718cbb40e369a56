import type { ChannelId, UserId } from '@waxwing/protocol';
import type { Transaction } from 'kysely';
import type { ServerContext } from '../../../context.js';
import { ascendingIds } from '../../../people/permissions/ascending-ids.js';
import type { ServerTables, ServerTransaction } from '../../../tables.js';
import { lockChannels } from '../../channels/channel-store.js';
import { withdrawNotifications } from '../push/withdraw-notifications.js';
import { enqueueJob, handleJob, oneDay, type TransactionJob } from '../transaction-jobs.js';
import { eventsOfReading, readOfChannels } from './read-of-channels.js';

/** Job that marks the unread messages of an archived channel as read. */
export const readArchivedChannelJob: TransactionJob<ReadSoFar> = {
  kind: 'messages/read-archived-channel',
  concurrency: 1,
  lifetimeMilliseconds: 7 * oneDay,
};

/** Batch sizes per transaction. Small enough to avoid delaying other writers. */
interface ReadingStep {
  readonly users: number;
  /** Defaults to the limit of {@link readOfChannels}. */
  readonly copies?: number;
}

const usualStep: ReadingStep = { users: 100 };

/** The job's progress: the channel, and the last user whose messages in the channel are all read. */
interface ReadSoFar {
  readonly channelId: ChannelId;
  readonly lastUserId: UserId;
}

type Context = Pick<ServerContext, 'clock' | 'database' | 'publish'>;

/**
 * Enqueues a job that marks the unread messages of an archived channel as read, because clients no longer show the
 * channel. The job works in batches, publishes events, retracts push notifications, and stops if the channel is
 * unarchived.
 */
export async function readArchivedChannel(
  transaction: ServerTransaction,
  context: Context,
  channelId: ChannelId,
): Promise<void> {
  await enqueueJob(transaction, context, readArchivedChannelJob, { channelId, lastUserId: 0 });
}

/** Registers the handler for {@link readArchivedChannelJob}. Call this before starting the database's jobs. */
export function handleReadingJobs(context: Context): void {
  handleJob(context, readArchivedChannelJob, (transaction, soFar) => readSome(transaction, context, soFar));
}

/** Marks the next batch as read, and enqueues a job for the remaining messages. */
export async function readSome(
  transaction: ServerTransaction,
  context: Context,
  { channelId, lastUserId }: ReadSoFar,
  step = usualStep,
): Promise<void> {
  const { db } = transaction;
  const [channel] = await lockChannels(transaction, [channelId]);
  if (!channel?.isArchived) return;
  const userIds = await nextUsers(db, { channelId, lastUserId }, step.users);
  const lastOfThese = userIds.at(-1);
  if (lastOfThese === undefined) return;
  const memberships = userIds.map((userId) => ({ channelId, userId }));
  const { copies, rest } = await readOfChannels(db, memberships, step.copies);
  await context.publish(transaction, eventsOfReading(copies));
  await withdrawNotifications(transaction, context, {
    messageIds: ascendingIds(copies.map(({ message_id }) => message_id)),
    userIds: ascendingIds(copies.map(({ user_id }) => user_id)),
  });
  const next = rest[0]?.userId;
  const last = next === undefined ? lastOfThese : next - 1;
  await enqueueJob(transaction, context, readArchivedChannelJob, { channelId, lastUserId: last });
}

async function nextUsers(
  db: Transaction<ServerTables>,
  { channelId, lastUserId }: ReadSoFar,
  limit: number,
): Promise<UserId[]> {
  const rows = await db
    .selectFrom('subscriptions')
    .select('user_id')
    .where('channel_id', '=', channelId)
    .where('user_id', '>', lastUserId)
    .where('is_active', '=', 1)
    .orderBy('user_id')
    .limit(limit)
    .execute();
  return rows.map(({ user_id }) => user_id);
}
