import type { ChannelId, UserId } from '@waxwing/protocol';
import type { Transaction } from 'kysely';
import { lockChannels } from '../../channels/channel-store.js';
import type { ServerContext } from '../../context.js';
import { ascendingIds } from '../../permissions/ascending-ids.js';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import { withdrawNotifications } from '../push/withdraw-notifications.js';
import { enqueueJob, handleJob, oneDay, type TransactionJob } from '../transaction-jobs.js';
import { eventsOfReading, readOfChannels } from './read-of-channels.js';

/** Marks as read what nobody has read of an archived channel. */
const readArchivedChannelJob: TransactionJob<ReadSoFar> = {
  kind: 'messages/read-archived-channel',
  concurrency: 1,
  lifetimeMilliseconds: 7 * oneDay,
};

/** Whose copies a transaction looks for, and how many it changes: few enough that nobody waits for it for long. */
interface ReadingStep {
  readonly users: number;
  /** As many as are read at once anywhere where nothing is said. */
  readonly copies?: number;
}

const usualStep: ReadingStep = { users: 100 };

/** A channel, and the last of its users who have nothing unread in it any more. */
interface ReadSoFar {
  readonly channelId: ChannelId;
  readonly lastUserId: UserId;
}

type Context = Pick<ServerContext, 'clock' | 'database' | 'publish'>;

/**
 * Has what users have not read of a channel that is archived count as read, as clients show no channel to read it in. Their
 * clients are told, and their phones forget it. It is done by a job, a part at a time, unless the channel comes back.
 */
export async function readArchivedChannel(
  transaction: ServerTransaction,
  context: Context,
  channelId: ChannelId,
): Promise<void> {
  await enqueueJob(transaction, context, readArchivedChannelJob, { channelId, lastUserId: 0 });
}

/** Says who does that; call it before the database's jobs are started. */
export function handleReadingJobs(context: Context): void {
  handleJob(context, readArchivedChannelJob, (transaction, soFar) => readSome(transaction, context, soFar));
}

/** Marks as read what comes next, and has the rest done later. */
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
