import type { MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import type { ServerTables } from '../../../tables.js';

/** Messages and the users who lose access to them. */
export interface Loss {
  /** In ascending order. */
  readonly ids: readonly MessageId[];
  readonly audience: readonly UserId[];
}

const messagesPerPiece = 500;

/**
 * Groups users by the messages that they have a copy of. The database does the grouping, in batches of 500 messages,
 * which bounds memory for large numbers of users and messages.
 */
export async function* lossesAmong(
  db: Kysely<ServerTables>,
  userIds: readonly UserId[],
  messageIds: readonly MessageId[],
): AsyncGenerator<Loss[]> {
  if (userIds.length === 0) return;
  for (let start = 0; start < messageIds.length; start += messagesPerPiece) {
    const some = messageIds.slice(start, start + messagesPerPiece);
    const { rows } = await sql<{ message_ids: string; user_ids: string }>`
      select message_ids, string_agg(cast(user_id as text), ',' order by user_id) as user_ids
      from (
        select user_id, string_agg(cast(message_id as text), ',' order by message_id) as message_ids
        from user_messages
        where user_id in ${amongNumbers(db, userIds)} and message_id in ${amongNumbers(db, some)}
        group by user_id
      ) as own
      group by message_ids
      order by min(user_id)`.execute(db);
    yield rows.map(({ message_ids, user_ids }) => ({
      ids: readNumbers(message_ids) as MessageId[],
      audience: readNumbers(user_ids) as UserId[],
    }));
  }
}

function readNumbers(text: string): number[] {
  return text.split(',').map(Number);
}
