import type { UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { roles } from '../../platform/authentication/roles.js';
import type { ServerTables } from '../../tables.js';
import { permissionSetting } from '../permissions/permission-settings.js';
import { wholeRealm } from '../permissions/permission-tables.js';
import type { Reader } from './address-visibility.js';
import type { User } from './user-store.js';

type Seen = Pick<User, 'id' | 'isBot'>;

/** Tests whether a reader sees a user. */
type Sees = (user: Seen) => boolean;

/**
 * Returns a function that tests whether a reader sees a user, according to the current `can_access_all_users_group`.
 * If that group excludes guests, a guest sees only itself, bots, and users in a common channel or conversation, and a
 * spectator sees only bots. Runs no query for members, who see all users.
 * @param among the users to test; others count as hidden. Bounds the query, because a guest may know thousands of
 * users.
 */
export async function readVisibilityOf(
  db: Kysely<ServerTables>,
  reader: Reader,
  among: readonly UserId[],
): Promise<Sees> {
  return (await seesAllUsers(db, reader)) ? () => true : limitedVisibility(db, reader, among);
}

/** Returns whether a reader sees all users. Runs no query for members. */
export async function seesAllUsers(db: Kysely<ServerTables>, reader: Reader): Promise<boolean> {
  return (reader !== undefined && reader.role !== roles.guest) || isOpenToGuests(db);
}

/** Like {@link readVisibilityOf}, for a reader who is known not to see all users. */
export async function limitedVisibility(
  db: Kysely<ServerTables>,
  reader: Reader,
  among?: readonly UserId[],
): Promise<Sees> {
  const acquaintances = await readAcquaintances(db, reader, among);
  return (user) => user.isBot || user.id === reader?.id || acquaintances.has(user.id);
}

/** Returns which of the readers can see a user. Equivalent to {@link readVisibilityOf}, for many readers at once. */
export async function seeingUser<Account extends NonNullable<Reader>>(
  db: Kysely<ServerTables>,
  user: Seen,
  readers: readonly Account[],
): Promise<Account[]> {
  const guests = readers.filter(({ role }) => role === roles.guest);
  if (user.isBot || guests.length === 0 || (await isOpenToGuests(db))) return [...readers];
  const acquainted = await acquaintedAmong(
    db,
    user.id,
    guests.map(({ id }) => id),
  );
  return readers.filter(({ id, role }) => role !== roles.guest || id === user.id || acquainted.has(id));
}

const openToGuests = permissionSetting('realm', 'can_access_all_users_group').default;

async function isOpenToGuests(db: Kysely<ServerTables>): Promise<boolean> {
  const row = await db
    .selectFrom('permissions')
    .innerJoin('user_groups', 'user_groups.id', 'permissions.group_id')
    .select('user_groups.name')
    .where('level', '=', 'realm')
    .where('owner_id', '=', wholeRealm)
    .where('permissions.name', '=', 'can_access_all_users_group')
    .executeTakeFirst();
  return row === undefined || row.name === openToGuests;
}

/**
 * Returns the users who share a channel or conversation with a guest. `among` limits the result to these users. The
 * result is empty for spectators.
 */
async function readAcquaintances(
  db: Kysely<ServerTables>,
  guest: Reader,
  among: readonly UserId[] | undefined,
): Promise<ReadonlySet<UserId>> {
  if (guest === undefined) return new Set();
  return among === undefined ? allAcquaintances(db, guest.id) : acquaintedAmong(db, guest.id, among);
}

async function allAcquaintances(db: Kysely<ServerTables>, guestId: UserId): Promise<ReadonlySet<UserId>> {
  const { rows } = await sql<{ user_id: UserId }>`
    select other.user_id
    from subscriptions as own
      join subscriptions as other on other.channel_id = own.channel_id and other.is_active = 1
    where own.user_id = ${guestId} and own.is_active = 1
    union
    select other.user_id
    from conversation_participants as own
      join conversation_participants as other on other.conversation_id = own.conversation_id
    where own.user_id = ${guestId}`.execute(db);
  return new Set(rows.map(({ user_id }) => user_id));
}

/** Returns which of these users share a channel or conversation with a user. */
async function acquaintedAmong(
  db: Kysely<ServerTables>,
  userId: UserId,
  ids: readonly UserId[],
): Promise<ReadonlySet<UserId>> {
  const { rows } = await sql<{ user_id: UserId }>`
    select other.user_id
    from subscriptions as own join subscriptions as other on other.channel_id = own.channel_id
    where own.user_id = ${userId} and own.is_active = 1 and other.is_active = 1
      and other.user_id in ${amongNumbers(db, ids)}
    union
    select other.user_id
    from conversation_participants as own
      join conversation_participants as other on other.conversation_id = own.conversation_id
    where own.user_id = ${userId} and other.user_id in ${amongNumbers(db, ids)}`.execute(db);
  return new Set(rows.map(({ user_id }) => user_id));
}
