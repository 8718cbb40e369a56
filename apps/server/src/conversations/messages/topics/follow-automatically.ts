import type { ChannelId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { ServerContext } from '../../../context.js';
import { readStored, storedSetting } from '../../../people/user-settings/user-setting-store.js';
import type { ServerTransaction } from '../../../tables.js';
import type { SentMessage } from '../message-events.js';
import { topicKey } from '../message-store.js';
import type { TopicPolicyRequest } from './topic-policy-request.js';
import { storeTopicPolicies } from './user-topic-store.js';
import { type VisibilityPolicy, visibilityPolicies } from './visibility-policies.js';

type FollowContext = Pick<ServerContext, 'clock' | 'publish'>;

/** Policies for following or unmuting topics automatically, with the numeric values of the chat API. 4 means never. */
const automatically = { whereParticipated: 1, whereSent: 2, whereStarted: 3 } as const;

const settingNames = [
  'automatically_follow_topics_policy',
  'automatically_unmute_topics_in_muted_streams_policy',
  'automatically_follow_topics_where_mentioned',
] as const;

/** A subscriber's mute state, topic policy and settings for automatic following. */
interface FollowFacts {
  readonly isMuted: boolean;
  readonly policy: VisibilityPolicy;
  /** A value of {@link automatically}, or 4 (never). `unmutes` has the same values. */
  readonly follows: number;
  readonly unmutes: number;
  readonly followsMentions: boolean;
}

interface Automatic {
  readonly sent: SentMessage;
  /** Whether the message is the first one in its topic. */
  readonly isTopicNew: boolean;
}

/**
 * Follows the topic of a new channel message for the sender and for users mentioned by name, according to their
 * settings. In a muted channel, it may instead unmute the topic for the sender. Topics that the sender already follows
 * stay followed. Mentioned users keep any existing policy. Returns the sender's new policy, or `undefined` if it is
 * unchanged.
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
  const facts = await readFacts(transaction, { channelId, topic, userIds });
  const requests = [...facts].flatMap(([userId, status]): TopicPolicyRequest[] => {
    const policy = userId === senderId ? policyOfSender(status, isTopicNew) : policyOfMentioned(status);
    return policy === undefined ? [] : [{ userId, channelId, topic, policy }];
  });
  await storeTopicPolicies(transaction, context, requests);
  return requests.find(({ userId }) => userId === senderId)?.policy;
}

/** Like {@link followAutomatically}, for the sender of a message that was moved to a new topic. */
export async function followMovedMessage(
  transaction: ServerTransaction,
  context: FollowContext,
  {
    senderId,
    channelId,
    topic,
  }: { readonly senderId: UserId; readonly channelId: ChannelId; readonly topic: string },
): Promise<void> {
  const facts = await readFacts(transaction, { channelId, topic, userIds: [senderId] });
  const status = facts.get(senderId);
  const policy = status && policyOfSender(status, true);
  if (policy === undefined) return;
  await storeTopicPolicies(transaction, context, [{ userId: senderId, channelId, topic, policy }]);
}

function policyOfSender(status: FollowFacts, isTopicNew: boolean): VisibilityPolicy | undefined {
  const { isMuted, policy, follows, unmutes } = status;
  const includes = (setting: number) =>
    setting === automatically.whereParticipated ||
    setting === automatically.whereSent ||
    (setting === automatically.whereStarted && isTopicNew);
  if (policy === visibilityPolicies.followed) return undefined;
  if (includes(follows)) return visibilityPolicies.followed;
  const isHeard = !isMuted || policy === visibilityPolicies.unmuted;
  return !isHeard && includes(unmutes) ? visibilityPolicies.unmuted : undefined;
}

function policyOfMentioned({ policy, followsMentions }: FollowFacts): VisibilityPolicy | undefined {
  return policy === visibilityPolicies.none && followsMentions ? visibilityPolicies.followed : undefined;
}

async function readFacts(
  { db }: ServerTransaction,
  location: { readonly channelId: ChannelId; readonly topic: string; readonly userIds: readonly UserId[] },
): Promise<ReadonlyMap<UserId, FollowFacts>> {
  const { channelId, topic, userIds } = location;
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
