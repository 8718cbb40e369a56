import type { MessageId, UserId } from '@waxwing/protocol';
import type { Transaction } from 'kysely';
import type { ServerContext } from '../../../context.js';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import type { ServerTables, ServerTransaction } from '../../../tables.js';
import { readAudience } from '../../channels/channel-audience.js';
import { activeAmong, holdersAmong } from '../message-readers.js';
import { topicKey } from '../message-store.js';
import type { TopicPolicyRequest } from '../topics/topic-policy-request.js';
import { storeTopicPolicies } from '../topics/user-topic-store.js';
import { type VisibilityPolicy, visibilityPolicies } from '../topics/visibility-policies.js';
import type { EditedChannels, LosingAccess } from './edit-audience.js';
import type { PlannedMove } from './plan-edit.js';

/** Visibility policies from least to most visible. 0 means that no policy is set. */
const fromHiddenToShown = [1, 0, 2, 3] as const;

/** A user's policies for the old and the new topic of a move. `undefined` if not set. */
interface TopicWants {
  readonly userId: UserId;
  readonly ofOld: VisibilityPolicy | undefined;
  readonly ofNew: VisibilityPolicy | undefined;
}

/**
 * Returns a user's policy for the new topic after a move of the whole old topic. If the new topic existed before, the
 * more visible policy wins. Users who lose access keep their policy for the new topic.
 */
export function mergedWants(
  { userId, ofOld, ofNew }: TopicWants,
  {
    isTopicNew,
    usersLosingAccess,
  }: { readonly isTopicNew: boolean; readonly usersLosingAccess: ReadonlySet<UserId> },
): VisibilityPolicy {
  if (usersLosingAccess.has(userId)) return ofNew ?? 0;
  if (isTopicNew) return ofOld ?? ofNew ?? 0;
  const rank = (policy: VisibilityPolicy = visibilityPolicies.none) => fromHiddenToShown.indexOf(policy);
  return rank(ofOld) > rank(ofNew) ? (ofOld ?? 0) : (ofNew ?? 0);
}

interface TopicMove {
  readonly move: PlannedMove;
  readonly channels: EditedChannels;
  /** The moved messages. */
  readonly ids: readonly MessageId[];
  readonly isTopicNew: boolean;
  readonly losingAccess: LosingAccess;
}

/**
 * Moves users' policies for a topic whose messages have all moved, and publishes events. Drops the policies of users
 * who cannot read the messages in the new topic.
 */
export async function moveTopicSettings(
  transaction: ServerTransaction,
  context: Pick<ServerContext, 'clock' | 'publish'>,
  moved: TopicMove,
): Promise<void> {
  const { from, to } = moved.move;
  const { channels, isTopicNew } = moved;
  if (from.channelId === to.channelId && topicKey(from.topic) === topicKey(to.topic)) return;
  const { db } = transaction;
  const wants = await readWants(db, from, to);
  if (wants.length === 0) return;
  const users = await activeAmong(
    db,
    wants.map(({ userId }) => userId),
  );
  const usersLosingAccess = await usersWithoutAccess(db, moved, wants, users);
  const requests = wants.flatMap((each): TopicPolicyRequest[] => {
    const { userId, ofOld, ofNew } = each;
    const policy = mergedWants(each, { isTopicNew, usersLosingAccess });
    return [
      ...(ofOld === undefined ? [] : [{ userId, ...from, policy: visibilityPolicies.none }]),
      ...(policy === (ofNew ?? visibilityPolicies.none) ? [] : [{ userId, ...to, policy }]),
    ];
  });
  const readers = (await readAudience(db, { channel: channels.origin }, users)).reading();
  const inOrigin = new Set(readers.map(({ id }) => id));
  await storeTopicPolicies(
    transaction,
    context,
    requests,
    ({ userId, channelId }) => channelId !== from.channelId || inOrigin.has(userId),
  );
}

async function usersWithoutAccess(
  db: Transaction<ServerTables>,
  { channels: { target }, ids, losingAccess }: TopicMove,
  wants: readonly TopicWants[],
  users: readonly PermissionHolder[],
): Promise<ReadonlySet<UserId>> {
  const losing = new Set(await losingAccess(users));
  const readers = (await readAudience(db, { channel: target }, users))
    .reading()
    .map(({ id }) => id)
    .filter((id) => !losing.has(id));
  const seeing = target.isHistoryPublic ? readers : await holdersAmong(db, readers, ids);
  const followers = new Set(seeing);
  return new Set(wants.map(({ userId }) => userId).filter((id) => !followers.has(id)));
}

function locationColumns({ channelId, topic }: PlannedMove['from']) {
  return { channel_id: channelId, topic_lower: topicKey(topic) };
}

async function readWants(
  db: Transaction<ServerTables>,
  from: PlannedMove['from'],
  to: PlannedMove['from'],
): Promise<TopicWants[]> {
  const rows = await db
    .selectFrom('user_topics')
    .select(['user_id', 'channel_id', 'topic_lower', 'visibility_policy'])
    .where((is) => is.or([from, to].map((location) => is.and(locationColumns(location)))))
    .orderBy('user_id')
    .execute();
  const isOld = (row: (typeof rows)[number]) =>
    row.channel_id === from.channelId && row.topic_lower === topicKey(from.topic);
  const byUser = new Map<UserId, TopicWants>();
  for (const row of rows) {
    const { user_id: userId } = row;
    const policy = row.visibility_policy as VisibilityPolicy;
    const known = byUser.get(userId) ?? { userId, ofOld: undefined, ofNew: undefined };
    byUser.set(userId, isOld(row) ? { ...known, ofOld: policy } : { ...known, ofNew: policy });
  }
  return [...byUser.values()];
}
