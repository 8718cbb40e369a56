import type { UserId } from '@waxwing/protocol';
import { isAmong, rowsAsTable } from '@waxwing/storage';
import { type Kysely, sql, type Transaction } from 'kysely';
import { ascendingIds } from '../../people/permissions/ascending-ids.js';
import type { ServerTables } from '../../tables.js';
import { readUserIds } from './related-records.js';

/** Returns the unique key of a conversation: its participants' ids in ascending order, separated by commas. */
export function participantsKey(userIds: readonly UserId[]): string {
  return ascendingIds(userIds).join(',');
}

/**
 * Creates the conversations that do not exist yet. Returns the id of each conversation by {@link participantsKey}.
 * Runs at most three statements.
 */
export async function ensureConversations(
  db: Transaction<ServerTables>,
  keys: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (keys.length === 0) return new Map();
  const rows = [...new Set(keys)].sort().map((participants) => ({ participants }));
  const wanted = () => rowsAsTable(db, 'v', { participants: 'text' }, rows);
  const { rows: made } = await sql<{ id: number; participants: string }>`
    insert into conversations (participants) select v.participants from ${wanted()} where true
    on conflict (participants) do nothing returning id, participants`.execute(db);
  const members = made.flatMap(({ id, participants }) =>
    readUserIds(participants).map((userId) => ({ conversation_id: id, user_id: userId })),
  );
  if (members.length > 0) {
    const table = rowsAsTable(db, 'v', { conversation_id: 'integer', user_id: 'integer' }, members);
    await sql`
      insert into conversation_participants (conversation_id, user_id)
      select v.conversation_id, v.user_id from ${table}`.execute(db);
  }
  return findConversations(
    db,
    rows.map(({ participants }) => participants),
  );
}

/** Returns the ids of existing conversations by {@link participantsKey}. Omits keys that have no conversation. */
export async function findConversations(
  db: Kysely<ServerTables>,
  keys: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('conversations')
    .selectAll()
    .where(isAmong(db, 'participants', 'text', keys))
    .execute();
  return new Map(rows.map(({ id, participants }) => [participants, id]));
}
