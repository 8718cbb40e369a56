import type { UserId } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import { amongNumbers } from '@waxwing/storage';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import { isMessageOnWeb } from '../../../people/realm/public-access.js';
import { realmLimits } from '../../../people/realm/realm-limits.js';
import type { ServerTables } from '../../../tables.js';
import { participantsKey } from '../conversation-store.js';
import { messageFlags } from '../message-flags.js';
import { topicKey } from '../message-store.js';
import { matchOf, searchCondition } from '../search/search-messages.js';
import { followConversation } from './follow-conversation.js';
import { type NarrowNames, readNarrowNames } from './narrow-names.js';
import { badNarrow, type NarrowOperand, type NarrowTerm, operatorOf, readId } from './narrow-terms.js';

type Db = Kysely<ServerTables>;
type Condition = RawBuilder<boolean>;

/** A narrow as an SQL condition on the rows `messages` and `copy`. The row `copy` may be missing. */
export interface NarrowCondition {
  readonly condition: Condition;
  /** Whether the reader may read all messages that meet the condition. */
  readonly isAllReadable: boolean;
  /** Whether to include messages that the reader has no copy of. */
  readonly hasHistory: boolean;
  /** Whether a term can use an index to find the messages. Otherwise all copies of the reader are scanned. */
  readonly hasIndex: boolean;
  /** The search text. Results highlight its words. */
  readonly search: string | undefined;
  /** The narrow as the matches of its search. Omitted without a search, and on PostgreSQL. */
  readonly matches?: SearchMatches | undefined;
  /**
   * The same as `matches`, if the query should start with them. They come in the order of ids, so a page needs only a
   * few. Omitted if another term has an index, because that index may find fewer messages.
   */
  readonly ordered?: SearchMatches | undefined;
}

/** A narrow as the matches of an FTS5 query that meet a condition. */
interface SearchMatches {
  readonly match: string;
  readonly condition: Condition;
}

/** Operators that also find messages that the reader has no copy of. */
const withHistory = ['channel', 'channels', 'id', 'topic'];

/** The operand of `channels` that selects archived channels. It finds only messages that the reader has a copy of. */
const archived = 'archived';

/** Operators that can use an index. */
const indexed = ['channel', 'topic', 'dm', 'dm-including', 'id', 'search', 'sender'];

/**
 * Converts the terms of a narrow to one condition.
 * @throws ProtocolError BAD_NARROW for terms that are invalid for the reader.
 */
export async function readNarrowCondition(
  db: Db,
  realm: Pick<PushRealm, 'url'>,
  reader: PermissionHolder,
  given: readonly NarrowTerm[],
): Promise<NarrowCondition> {
  const terms = await followConversation(db, reader, given);
  const names = await readNarrowNames(db, realm, reader, terms);
  const searches = terms.filter((term) => operatorOf(term) === 'search' && !term.isNegated);
  const texts = searches.map(({ operand }) => String(operand));
  const others = terms.filter((term) => !searches.includes(term));
  const conditions = others.map((term) => {
    const condition = conditionOf(db, reader, names, term);
    // Only negated conditions use `coalesce`, because it prevents the use of an index.
    return term.isNegated ? sql<boolean>`not coalesce(${condition}, false)` : sql<boolean>`(${condition})`;
  });
  const match = texts.length === 0 ? undefined : matchOf(db, texts);
  const matches = match === undefined ? undefined : { match, condition: allOf(conditions) };
  return {
    condition: allOf(texts.length === 0 ? conditions : [...conditions, searchCondition(db, texts)]),
    isAllReadable: terms.some(
      (term) =>
        operatorOf(term) === 'channel' && !term.isNegated && names.channel(term.operand).isHistoryPublic,
    ),
    hasHistory: terms.some((term) => !term.isNegated && findsHistory(term)),
    hasIndex: terms.some(hasIndex),
    search: texts.length === 0 ? undefined : texts.join(' '),
    matches,
    ordered: others.some(hasIndex) ? undefined : matches,
  };
}

function allOf(conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? sql<boolean>`true` : sql.join<boolean>(conditions, sql` and `);
}

function hasIndex(term: NarrowTerm): boolean {
  return !term.isNegated && indexed.includes(operatorOf(term));
}

/**
 * Returns whether a term also matches messages that the reader has no copy of. In archived channels, only copies match.
 */
function findsHistory(term: NarrowTerm): boolean {
  const operator = operatorOf(term);
  return withHistory.includes(operator) && !(operator === 'channels' && term.operand === archived);
}

function conditionOf(db: Db, reader: PermissionHolder, names: NarrowNames, term: NarrowTerm): Condition {
  const { operand } = term;
  switch (operatorOf(term)) {
    case 'channel':
      return sql`messages.channel_id = ${names.channel(operand).id}`;
    case 'topic':
      return sql`messages.channel_id is not null and messages.topic_lower = ${topicKey(readTopicOperand(operand))}`;
    case 'sender':
      return sql`messages.sender_id = ${only(names.userIds(operand), 'sender')}`;
    case 'mentions':
      return mentionsUser(only(names.userIds(operand), 'mentions'));
    case 'dm':
      return inConversation([reader.id, ...names.userIds(operand)]);
    case 'dm-including':
      return withEach(db, names.userIds(operand));
    case 'is':
      return isCondition(reader, String(operand));
    case 'has':
      return hasCondition(String(operand));
    case 'in':
      return inCondition(reader, String(operand));
    case 'channels':
      return channelsCondition(String(operand));
    case 'id':
      return sql`messages.id = ${readId(operand, 'id')}`;
    case 'near':
      readId(operand, 'near');
      return sql`true`;
    case 'search':
      return searchCondition(db, [String(operand)]);
    default:
      throw badNarrow(`unknown operator ${term.operator}`);
  }
}

function readTopicOperand(operand: NarrowOperand): string {
  if (typeof operand !== 'string') throw badNarrow('a topic must be a string');
  return operand === realmLimits.realm_empty_topic_display_name ? '' : operand;
}

function only(ids: readonly UserId[], operator: string): UserId {
  const [id] = ids;
  if (id === undefined || ids.length > 1) throw badNarrow(`${operator} needs one user`);
  return id;
}

function inConversation(userIds: readonly UserId[]): Condition {
  const key = participantsKey(userIds);
  return sql`messages.conversation_id = (select id from conversations where participants = ${key})`;
}

function withEach(db: Db, userIds: readonly UserId[]): Condition {
  return sql`messages.conversation_id in (
    select conversation_id from conversation_participants where user_id in ${amongNumbers(db, userIds)}
    group by conversation_id having count(*) = ${userIds.length}
  )`;
}

/**
 * Returns a condition that is true if the message mentions the user by name, and not silently. Names are escaped in
 * HTML, so no name can imitate this markup.
 */
function mentionsUser(id: UserId): Condition {
  return sql`messages.rendered_content like ${`%<span class="user-mention" data-user-id="${id}">%`}`;
}

/** Returns a condition that is true if the copy has any of these bits. */
function hasFlag(...bits: number[]): Condition {
  return sql`copy.flags & ${sql.raw(String(bits.reduce((sum, bit) => sum | bit, 0)))} <> 0`;
}

/** True for unread copies. A message without a copy counts as read. */
const isUnread: Condition = sql`copy.flags & ${sql.raw(String(messageFlags.read))} = 0`;

function isCondition(reader: PermissionHolder, operand: string): Condition {
  switch (operand) {
    case 'dm':
    case 'private':
      return sql`messages.conversation_id is not null`;
    case 'unread':
      return isUnread;
    case 'read':
      return sql`not coalesce(${isUnread}, false)`;
    case 'starred':
      return hasFlag(messageFlags.starred);
    case 'mentioned':
      return hasFlag(
        messageFlags.mentioned,
        messageFlags.stream_wildcard_mentioned,
        messageFlags.topic_wildcard_mentioned,
      );
    case 'alerted':
      return hasFlag(messageFlags.has_alert_word);
    case 'resolved':
      return sql`messages.channel_id is not null and messages.topic like '✔ %'`;
    case 'followed':
      return topicInNarrow(reader, 'visibility_policy = 3');
    case 'muted':
      return isMuted(reader);
    default:
      throw badNarrow(`unknown operand ${operand} of is`);
  }
}

function hasCondition(operand: string): Condition {
  if (operand === 'link') return sql`messages.has_link = 1`;
  if (operand === 'image') return sql`messages.has_image = 1`;
  if (operand === 'attachment') return sql`messages.has_attachment = 1`;
  if (operand === 'reaction') return sql`false`;
  throw badNarrow(`unknown operand ${operand} of has`);
}

function inCondition(reader: PermissionHolder, operand: string): Condition {
  if (operand === 'home') return sql`not ${isMuted(reader)}`;
  if (operand === 'all') return sql`true`;
  throw badNarrow(`unknown operand ${operand} of in`);
}

function channelsCondition(operand: string): Condition {
  // Looks up the message's own channel: a list of all public channels could be long.
  if (operand === 'public')
    return sql`exists (select 1 from channels where channels.id = messages.channel_id and is_private = 0)`;
  if (operand === 'web-public') return isMessageOnWeb;
  if (operand === archived)
    return sql`messages.channel_id in (select id from channels where is_archived = 1)`;
  throw badNarrow(`unknown operand ${operand} of channels`);
}

function topicInNarrow({ id }: PermissionHolder, requested: string): Condition {
  return sql`exists (
    select 1 from user_topics
    where user_topics.user_id = ${id} and user_topics.channel_id = messages.channel_id
      and user_topics.topic_lower = messages.topic_lower and ${sql.raw(requested)}
  )`;
}

/**
 * Returns a condition that is true if the topic is muted, or if its channel is muted and the topic is neither unmuted
 * nor followed.
 */
function isMuted(reader: PermissionHolder): Condition {
  return sql`coalesce(
    ${topicInNarrow(reader, 'visibility_policy = 1')}
    or (
      messages.channel_id in (
        select channel_id from subscriptions where user_id = ${reader.id} and is_muted = 1
      )
      and not ${topicInNarrow(reader, 'visibility_policy in (2, 3)')}
    ), false)`;
}
