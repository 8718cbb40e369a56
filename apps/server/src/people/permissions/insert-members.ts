import type { GroupId, UserId } from '@waxwing/protocol';
import { inPieces, rowsAsTable } from '@waxwing/storage';
import { sql, type Transaction } from 'kysely';
import type { ServerTables } from '../../tables.js';

/**
 * Adds direct members to a group, in pieces ({@link inPieces}). The caller must have checked that none of the users
 * is a member yet.
 */
export async function insertMembers(
  db: Transaction<ServerTables>,
  groupId: GroupId,
  userIds: readonly UserId[],
): Promise<void> {
  await inPieces(db, userIds, async (piece) => {
    const rows = piece.map((user_id) => ({ user_id }));
    await sql`
      insert into user_group_members (group_id, user_id)
      select cast(${groupId} as bigint), v.user_id
      from ${rowsAsTable(db, 'v', { user_id: 'integer' }, rows)}`.execute(db);
  });
}
