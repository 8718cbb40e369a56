import type { UserId } from '@waxwing/protocol';
import { type Kysely, sql } from 'kysely';
import { type Role, roles } from '../../platform/authentication/roles.js';
import type { ServerTables } from '../../tables.js';
import { readPermissions, roleGroupIds } from '../permissions/permission-store.js';
import { wholeRealm } from '../permissions/permission-tables.js';
import type { Reader } from './address-visibility.js';
import type { User } from './user-store.js';

type Seen = Pick<User, 'id' | 'isBot'>;

/** Whether a reader can see a user. */
export type Visibility = (reader: Reader, user: Seen) => boolean;

/**
 * The visibility of users, by the current `can_access_all_users_group`. If it excludes guests, a guest sees itself,
 * bots, and users in a common channel or conversation, and a spectator sees only bots.
 */
export async function readVisibility(db: Kysely<ServerTables>): Promise<Visibility> {
  if (await isOpenToGuests(db)) return () => true;
  const acquaintances = await readAcquaintances(db);
  return (reader, user) => sees(reader, user, reader && acquaintances.get(reader.id));
}

/** Like {@link readVisibility}, for one reader. Reads nothing for members, who see all users. */
export async function readVisibilityOf(
  db: Kysely<ServerTables>,
  reader: Reader,
): Promise<(user: Seen) => boolean> {
  const seesAll = reader !== undefined && reader.role !== roles.guest;
  if (seesAll || (await isOpenToGuests(db))) return () => true;
  const acquaintances = reader && (await readAcquaintances(db, reader.id)).get(reader.id);
  return (user) => sees(reader, user, acquaintances);
}

async function isOpenToGuests(db: Kysely<ServerTables>): Promise<boolean> {
  const permissions = (await readPermissions(db, 'realm', [wholeRealm]))(wholeRealm);
  return permissions.can_access_all_users_group === (await roleGroupIds(db)).get('role:everyone');
}

function sees(reader: Reader, user: Seen, acquaintances: ReadonlySet<UserId> | undefined): boolean {
  if (user.isBot) return true;
  if (reader === undefined) return false;
  if (reader.role !== roles.guest || reader.id === user.id) return true;
  return acquaintances?.has(user.id) ?? false;
}

/** The users who share a channel or conversation with each guest, or with one guest. */
async function readAcquaintances(
  db: Kysely<ServerTables>,
  guestId?: UserId,
): Promise<ReadonlyMap<UserId, ReadonlySet<UserId>>> {
  const isMeant = guestId === undefined ? sql`1 = 1` : sql`users.id = ${guestId}`;
  const { rows } = await sql<{ guest_id: UserId; user_id: UserId }>`
    select own.user_id as guest_id, other.user_id
    from users
      join subscriptions as own on own.user_id = users.id and own.is_active = 1
      join subscriptions as other on other.channel_id = own.channel_id and other.is_active = 1
    where users.role = ${roles.guest} and users.is_active = 1 and ${isMeant}
    union
    select own.user_id as guest_id, other.user_id
    from users
      join conversation_participants as own on own.user_id = users.id
      join conversation_participants as other on other.conversation_id = own.conversation_id
    where users.role = ${roles.guest} and users.is_active = 1 and ${isMeant}`.execute(db);
  const known = new Map<UserId, Set<UserId>>();
  for (const { guest_id, user_id } of rows) {
    const ids = known.get(guest_id) ?? new Set();
    known.set(guest_id, ids.add(user_id));
  }
  return known;
}

/** A reader with an account. */
type Account = NonNullable<Reader>;

/** All active users and bots: every possible audience. */
export async function activeReaders(db: Kysely<ServerTables>): Promise<Account[]> {
  const rows = await db.selectFrom('users').select(['id', 'role']).where('is_active', '=', 1).execute();
  return rows.map(({ id, role }) => ({ id, role: role as Role }));
}

/** The ids of all active users and bots that can see a user: the audience of its events. */
export async function readersOf(
  db: Kysely<ServerTables>,
  user: Pick<User, 'id' | 'isBot'>,
): Promise<UserId[]> {
  const visibility = await readVisibility(db);
  return (await activeReaders(db)).flatMap((reader) => (visibility(reader, user) ? [reader.id] : []));
}
