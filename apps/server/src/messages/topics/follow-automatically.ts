import type { ChannelId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { ServerContext } from '../../context.js';
import type { ServerTransaction } from '../../tables.js';
import { readStored, storedSetting } from '../../user-settings/user-setting-store.js';
import type { SentMessage } from '../message-events.js';
import { topicKey } from '../message-store.js';
import type { TopicWish } from './topic-wish.js';
import { storeTopicWishes } from './user-topic-store.js';
import { type VisibilityPolicy, visibilityPolicies } from './visibility-policies.js';

type FollowContext = Pick<ServerContext, 'clock' | 'publish'>;

/** When topics are followed or unmuted automatically: the numbers of the chat API. 4 is never. */
const automatically = { whereSomebodyTakesPart: 1, whereSomebodySends: 2, whereSomebodyBegins: 3 } as const;

const settingNames = [
  'automatically_follow_topics_policy',
  'automatically_unmute_topics_in_muted_streams_policy',
  'automatically_follow_topics_where_mentioned',
] as const;

/** A subscriber's mute state, topic policy and settings for automatic following. */
interface Standing {
  readonly isMuted: boolean;
  readonly policy: VisibilityPolicy;
  /** A value of `automatically`, as is `unmutes`. */
  readonly follows: number;
  readonly unmutes: number;
  readonly followsMentions: boolean;
}

interface Automatic {
  readonly sent: SentMessage;
  /** Whether it is the first message of its topic. */
  readonly isTopicNew: boolean;
}

/**
 * Follows the topic of a new channel message according to users' settings: for the sender, and for users mentioned by
 * name. In a muted channel it may unmute the topic for the sender. Topics already followed stay so. For mentioned users,
 * any existing policy stays. Returns the sender's new policy, or `undefined` if it is unchanged.
 */
export async function followAutomatically(
  transaction: ServerTransaction,
  context: FollowContext,
  { sent, isTopicNew }: Automatic,
): Promise<VisibilityPolicy | undefined> {
  const { message, rendered, copies } = sent;
  const { channelId, senderId, topic } = message;
  if (channelId === undefined) return undefined;
  const concerned = new Set([senderId, ...rendered.mentions.userIds]);
  const inChannel = copies.filter(({ userId }) => concerned.has(userId));
  const userIds = inChannel.map(({ userId }) => userId);
  const standings = await readStandings(transaction, { channelId, topic, userIds });
  const wishes = [...standings].flatMap(([userId, standing]): TopicWish[] => {
    const policy = userId === senderId ? policyOfSender(standing, isTopicNew) : policyOfMentioned(standing);
    return policy === undefined ? [] : [{ userId, channelId, topic, policy }];
  });
  await storeTopicWishes(transaction, context, wishes);
  return wishes.find(({ userId }) => userId === senderId)?.policy;
}

/** {@link followAutomatically} for the sender of a message that created the topic by moving there. */
export async function followMovedMessage(
  transaction: ServerTransaction,
  context: FollowContext,
  {
    senderId,
    channelId,
    topic,
  }: { readonly senderId: UserId; readonly channelId: ChannelId; readonly topic: string },
): Promise<void> {
  const standings = await readStandings(transaction, { channelId, topic, userIds: [senderId] });
  const standing = standings.get(senderId);
  const policy = standing && policyOfSender(standing, true);
  if (policy === undefined) return;
  await storeTopicWishes(transaction, context, [{ userId: senderId, channelId, topic, policy }]);
}

function policyOfSender(standing: Standing, isTopicNew: boolean): VisibilityPolicy | undefined {
  const { isMuted, policy, follows, unmutes } = standing;
  const includes = (setting: number) =>
    setting === automatically.whereSomebodyTakesPart ||
    setting === automatically.whereSomebodySends ||
    (setting === automatically.whereSomebodyBegins && isTopicNew);
  if (policy === visibilityPolicies.followed) return undefined;
  if (includes(follows)) return visibilityPolicies.followed;
  const isHeard = !isMuted || policy === visibilityPolicies.unmuted;
  return !isHeard && includes(unmutes) ? visibilityPolicies.unmuted : undefined;
}

function policyOfMentioned({ policy, followsMentions }: Standing): VisibilityPolicy | undefined {
  return policy === visibilityPolicies.none && followsMentions ? visibilityPolicies.followed : undefined;
}

async function readStandings(
  { db }: ServerTransaction,
  place: { readonly channelId: ChannelId; readonly topic: string; readonly userIds: readonly UserId[] },
): Promise<ReadonlyMap<UserId, Standing>> {
  const { channelId, topic, userIds } = place;
  if (userIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('subscriptions')
    .innerJoin('users', 'users.id', 'subscriptions.user_id')
    .leftJoin('user_topics', (join) =>
      join
        .onRef('user_topics.user_id', '=', 'subscriptions.user_id')
        .on('user_topics.channel_id', '=', channelId)
        .on('user_topics.topic_lower', '=', topicKey(topic)),
    )
    .select(['subscriptions.user_id', 'subscriptions.is_muted', 'user_topics.visibility_policy'])
    .select(settingNames.map((name) => storedSetting(name, 'subscriptions.user_id')))
    .where('subscriptions.channel_id', '=', channelId)
    .where('subscriptions.is_active', '=', 1)
    .where('subscriptions.user_id', 'in', amongNumbers(db, userIds))
    .where('users.is_bot', '=', 0)
    .execute();
  return new Map(
    rows.map((row) => [
      row.user_id,
      {
        isMuted: row.is_muted === 1,
        policy: (row.visibility_policy ?? visibilityPolicies.none) as VisibilityPolicy,
        follows: readStored(row, 'automatically_follow_topics_policy'),
        unmutes: readStored(row, 'automatically_unmute_topics_in_muted_streams_policy'),
        followsMentions: readStored(row, 'automatically_follow_topics_where_mentioned'),
      },
    ]),
  );
}
