import { fixedQuery } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { ServerTables } from '../../tables.js';

/**
 * Reads the version of all users and their profiles. The version gets a new value whenever a user or a profile changes.
 */
export async function readUsersVersion(db: Kysely<ServerTables>): Promise<string> {
  const [row] = await versionOfUsers(db, {});
  if (row === undefined) throw new Error('the realm has no row');
  return row.users_version;
}

const versionOfUsers = fixedQuery<ServerTables, Record<never, never>, { readonly users_version: string }>(
  (db) => db.selectFrom('realm').select('users_version'),
);
