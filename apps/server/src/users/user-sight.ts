import type { UserId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import { readPermissions, roleGroupIds } from '../permissions/permission-store.js';
import { wholeRealm } from '../permissions/permission-tables.js';
import { type Role, roles } from '../permissions/roles.js';
import type { ServerTables } from '../tables.js';
import type { Reader } from './address-visibility.js';
import type { User } from './user-store.js';

/** Whether a reader may know of a user. */
export type Sight = (reader: Reader, user: Pick<User, 'id' | 'isBot'>) => boolean;

/**
 * Who sees whom, by `can_access_all_users_group` as it is now. Where that leaves guests out, a guest sees itself and bots,
 * and whoever has no account sees bots. To share a channel or a conversation with somebody would let a guest see them too,
 * but there are none.
 */
export async function readSight(db: Kysely<ServerTables>): Promise<Sight> {
  const permissions = (await readPermissions(db, 'realm', [wholeRealm]))(wholeRealm);
  const everyone = (await roleGroupIds(db)).get('role:everyone');
  if (permissions.can_access_all_users_group === everyone) return () => true;
  return (reader, user) =>
    user.isBot || (reader !== undefined && (reader.role !== roles.guest || reader.id === user.id));
}

/** Somebody with an account. */
type Account = NonNullable<Reader>;

/** All active users and bots: whoever can be told of something. */
export async function activeReaders(db: Kysely<ServerTables>): Promise<Account[]> {
  const rows = await db.selectFrom('users').select(['id', 'role']).where('is_active', '=', 1).execute();
  return rows.map(({ id, role }) => ({ id, role: role as Role }));
}

/** The ids of all active users and bots who may know of a user: the audience of what is another with it. */
export async function readersOf(
  db: Kysely<ServerTables>,
  user: Pick<User, 'id' | 'isBot'>,
): Promise<UserId[]> {
  const sees = await readSight(db);
  return (await activeReaders(db)).flatMap((reader) => (sees(reader, user) ? [reader.id] : []));
}
