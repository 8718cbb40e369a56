import type { UserId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import type { ServerTables } from '../../tables.js';

/** The ids of all active users and bots: the audience of public events. */
export async function allActiveUserIds(db: Kysely<ServerTables>): Promise<UserId[]> {
  const rows = await db.selectFrom('users').select('id').where('is_active', '=', 1).execute();
  return rows.map(({ id }) => id);
}
