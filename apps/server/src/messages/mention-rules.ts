import type { References } from '@waxwing/markdown';
import { ProtocolError, refused } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import {
  holdsPermissions,
  type PermissionHolder,
  type PermissionKey,
} from '../permissions/permission-store.js';
import { wholeRealm } from '../permissions/permission-tables.js';
import type { ServerTables } from '../tables.js';

/** In larger channels and topics not everybody may mention all. */
const mostMentionedByAnybody = 15;

/** What the rules about mentions ask for. */
export interface MentionFacts {
  readonly mentions: Pick<References['mentions'], 'channelWildcard' | 'topicWildcard'>;
  /** Whether the sender may mention all in large channels and topics; in direct messages everybody may. */
  readonly mayMentionMany: boolean;
  /** Active subscribers of the channel; read only where all of them are mentioned. */
  readonly subscribers: number;
  /** Those who have sent something to the topic; read only where all of them are mentioned. */
  readonly participants: number;
  /** The names of the groups that are mentioned and that the sender may not mention. */
  readonly forbiddenGroups: readonly string[];
}

/**
 * Whether the sender may mention whom a text mentions.
 * @throws ProtocolError STREAM_WILDCARD_MENTION_NOT_ALLOWED, TOPIC_WILDCARD_MENTION_NOT_ALLOWED, or BAD_REQUEST for a group.
 */
export function checkMentions(facts: MentionFacts): void {
  const { forbiddenGroups, mayMentionMany, mentions, participants, subscribers } = facts;
  if (mentions.channelWildcard && !mayMentionMany && subscribers > mostMentionedByAnybody)
    throw new ProtocolError('STREAM_WILDCARD_MENTION_NOT_ALLOWED');
  if (mentions.topicWildcard && !mayMentionMany && participants > mostMentionedByAnybody)
    throw new ProtocolError('TOPIC_WILDCARD_MENTION_NOT_ALLOWED');
  const [forbidden] = forbiddenGroups;
  if (forbidden === undefined) return;
  const message = `You are not allowed to mention user group '${forbidden}'.`;
  throw refused(message);
}

/** Whether somebody may mention all, and which of the groups they may not mention: two statements at most. */
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
