import type { References } from '@waxwing/markdown';
import { ProtocolError, refused } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import {
  holdsPermissions,
  type PermissionHolder,
  type PermissionKey,
} from '../../people/permissions/permission-store.js';
import { wholeRealm } from '../../people/permissions/permission-tables.js';
import type { ServerTables } from '../../tables.js';

/** Number of users that a wildcard mention may reach without a permission. */
const maximumMentioned = 15;

/** The facts that the mention rules need. */
export interface MentionFacts {
  readonly mentions: Pick<References['mentions'], 'channelWildcard' | 'topicWildcard'>;
  /** Whether the sender may use wildcard mentions in large channels and topics. Always true in direct messages. */
  readonly mayMentionMany: boolean;
  /** Number of active subscribers of the channel. Counted only if the text has a channel wildcard. */
  readonly subscribers: number;
  /** Number of users who have sent messages to the topic. Counted only if the text has a topic wildcard. */
  readonly participants: number;
  /** Names of mentioned groups that the sender may not mention. */
  readonly forbiddenGroups: readonly string[];
}

/**
 * Checks whether the sender may use the mentions in a text.
 * @throws ProtocolError STREAM_WILDCARD_MENTION_NOT_ALLOWED, TOPIC_WILDCARD_MENTION_NOT_ALLOWED, or BAD_REQUEST for a
 * group that the sender may not mention.
 */
export function checkMentions(facts: MentionFacts): void {
  const { forbiddenGroups, mayMentionMany, mentions, participants, subscribers } = facts;
  if (mentions.channelWildcard && !mayMentionMany && subscribers > maximumMentioned)
    throw new ProtocolError('STREAM_WILDCARD_MENTION_NOT_ALLOWED');
  if (mentions.topicWildcard && !mayMentionMany && participants > maximumMentioned)
    throw new ProtocolError('TOPIC_WILDCARD_MENTION_NOT_ALLOWED');
  const [forbidden] = forbiddenGroups;
  if (forbidden === undefined) return;
  const message = `You are not allowed to mention user group '${forbidden}'.`;
  throw refused(message);
}

/**
 * Reads whether the actor may use wildcard mentions, and which of the groups the actor may not mention. Runs at most
 * two statements.
 */
export async function readMentionRights(
  db: Kysely<ServerTables>,
  actor: PermissionHolder,
  { channelWildcard, topicWildcard, groupIds }: References['mentions'],
): Promise<Pick<MentionFacts, 'mayMentionMany' | 'forbiddenGroups'>> {
  if (!channelWildcard && !topicWildcard && groupIds.length === 0)
    return { mayMentionMany: false, forbiddenGroups: [] };
  const ofGroups = groupIds.map(
    (ownerId): PermissionKey => ({ level: 'group', ownerId, name: 'can_mention_group' }),
  );
  const [mayMentionMany = false, ...mayMention] = await holdsPermissions(db, actor, [
    { level: 'realm', ownerId: wholeRealm, name: 'can_mention_many_users_group' },
    ...ofGroups,
  ]);
  const forbidden = groupIds.filter((_, index) => !mayMention[index]);
  if (forbidden.length === 0) return { mayMentionMany, forbiddenGroups: [] };
  const rows = await db
    .selectFrom('user_groups')
    .select('name')
    .where('id', 'in', amongNumbers(db, forbidden))
    .orderBy('id')
    .execute();
  return { mayMentionMany, forbiddenGroups: rows.map(({ name }) => name ?? '') };
}
