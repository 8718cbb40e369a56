import type { UserId } from '@waxwing/protocol';
import { matchingRows, type RowFilter, readPages } from '@waxwing/storage';
import type { Kysely, Selectable, Transaction } from 'kysely';
import type { Role } from '../../platform/authentication/roles.js';
import { addressKey } from '../../platform/names/address-key.js';
import { nameKey } from '../../platform/names/name-key.js';
import type { ServerTables } from '../../tables.js';

/** A user or bot of the organization. */
export interface User {
  readonly id: UserId;
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly isBot: boolean;
  /** The id of a bot's owner; `undefined` for people, and for bots without an owner. */
  readonly botOwnerId: UserId | undefined;
}

export interface NewUser extends Omit<User, 'id'> {
  readonly apiKeyHash: string;
}

type Reader = Kysely<ServerTables>;
type UserRow = Selectable<ServerTables['users']>;

/** Returns the active user with this address (case-insensitive). */
export async function findUser(db: Reader, email: string): Promise<User | undefined> {
  const row = await activeUsers(db).where('email_lower', '=', addressKey(email)).executeTakeFirst();
  return row && toUser(row);
}

/** Returns the active user with this id. */
export async function findUserById(db: Reader, id: UserId): Promise<User | undefined> {
  const row = await activeUsers(db).where('id', '=', id).executeTakeFirst();
  return row && toUser(row);
}

const usersPerPage = 1000;

/** Yields pages of active users and bots, oldest first. The filter's text is matched against names and addresses. */
export function listUsers(db: Reader, filter: RowFilter): AsyncGenerator<User[]> {
  const pages = readPages(usersPerPage, async (last?: User) => {
    const after = last?.id ?? (0 as UserId);
    const rows = await activeUsers(db).where('id', '>', after).orderBy('id').limit(usersPerPage).execute();
    return rows.map(toUser);
  });
  return matchingRows(pages, filter, ({ fullName, email }) => [fullName, email]);
}

/** Inserts a user and returns its id, or `undefined` if an active user already has the address. */
export async function insertUser(
  db: Transaction<ServerTables>,
  user: NewUser,
  now: number,
): Promise<UserId | undefined> {
  const row = await db
    .insertInto('users')
    .values({
      email: user.email,
      email_lower: addressKey(user.email),
      full_name: user.fullName,
      name_key: nameKey(user.fullName),
      role: user.role,
      is_bot: user.isBot ? 1 : 0,
      bot_owner_id: user.botOwnerId ?? null,
      api_key_hash: user.apiKeyHash,
      is_active: 1,
      created_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return row?.id;
}

/** Stores whether a user may change other users' addresses. The permission applies only while the user is an owner. */
export async function storeMayChangeAddresses(
  db: Transaction<ServerTables>,
  id: UserId,
  isAllowed: boolean,
): Promise<void> {
  await db
    .updateTable('users')
    .set({ can_change_user_emails: isAllowed ? 1 : 0 })
    .where('id', '=', id)
    .execute();
}

/** Deactivates a user and its bots. Returns the deactivated users. */
export async function storeInactive(
  db: Transaction<ServerTables>,
  id: UserId,
): Promise<Pick<User, 'id' | 'isBot'>[]> {
  const rows = await db
    .updateTable('users')
    .set({ is_active: 0 })
    .where('is_active', '=', 1)
    .where((is) => is.or([is('id', '=', id), is('bot_owner_id', '=', id)]))
    .returning(['id', 'is_bot'])
    .execute();
  return rows.map((row) => ({ id: row.id, isBot: row.is_bot === 1 }));
}

function activeUsers(db: Reader) {
  return db.selectFrom('users').selectAll().where('is_active', '=', 1);
}

/** Converts a row of `users`. */
export function toUser(row: UserRow): User {
  return {
    id: row.id,
    email: row.email,
    fullName: row.full_name,
    role: row.role as Role,
    isBot: row.is_bot === 1,
    botOwnerId: row.bot_owner_id ?? undefined,
  };
}
