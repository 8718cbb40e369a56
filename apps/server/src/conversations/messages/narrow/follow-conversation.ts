import type { Kysely } from 'kysely';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import type { ServerTables } from '../../../tables.js';
import { findReadableMessages } from '../message-access.js';
import type { Message } from '../message-store.js';
import { badNarrow, type NarrowTerm, operatorOf, readId } from './narrow-terms.js';

type Db = Kysely<ServerTables>;

/** Operators that select a channel, topic or conversation. */
const places = ['channel', 'topic', 'dm', 'dm-including'];

/**
 * Resolves the `with` operator: replaces the terms for a channel, topic or conversation with the current location of
 * the message that `with` refers to.
 */
export async function followConversation(
  db: Db,
  reader: PermissionHolder,
  terms: readonly NarrowTerm[],
): Promise<NarrowTerm[]> {
  const followed = terms.filter((term) => operatorOf(term) === 'with');
  const others = terms.filter((term) => operatorOf(term) !== 'with');
  const [term] = followed;
  if (term === undefined) return others;
  if (followed.length > 1 || term.isNegated)
    throw badNarrow('with may occur only once and must not be negated');
  const [message] = await findReadableMessages(db, reader, [readId(term.operand, 'with')]);
  if (message !== undefined) {
    return [
      ...others.filter((other) => !places.includes(operatorOf(other)) || other.isNegated),
      ...(await placeOf(db, message)),
    ];
  }
  if (others.some((other) => places.includes(operatorOf(other)))) return others;
  throw badNarrow('unknown message in with');
}

async function placeOf(db: Db, { channelId, conversationId, topic }: Message): Promise<NarrowTerm[]> {
  if (channelId !== undefined) {
    return [
      { operator: 'channel', operand: channelId, isNegated: false },
      { operator: 'topic', operand: topic, isNegated: false },
    ];
  }
  const { participants } = await db
    .selectFrom('conversations')
    .select('participants')
    .where('id', '=', conversationId as number)
    .executeTakeFirstOrThrow();
  return [{ operator: 'dm', operand: participants.split(',').map(Number), isNegated: false }];
}
