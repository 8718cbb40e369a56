import { keepingRows } from '@waxwing/storage';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { ServerTables, ServerTransaction } from '../tables.js';
import type { Role } from './roles.js';

/** A user or a bot of the organisation. */
export interface User {
  readonly id: number;
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly isBot: boolean;
  /** Whose bot it is; `undefined` for people, and for bots that belong to nobody. */
  readonly botOwnerId: number | undefined;
}

/** A user and what its API key is checked against. */
export interface KnownUser extends User {
  readonly apiKeyHash: string;
}

export interface NewUser extends Omit<User, 'id'> {
  readonly apiKeyHash: string;
}

type Reader = Kysely<ServerTables>;
type UserRow = Selectable<ServerTables['users']>;

/** The active user with this address, whatever its letter case. */
export async function findUser(db: Reader, email: string): Promise<KnownUser | undefined> {
  const row = await activeUsers(db).where('email_lower', '=', email.toLowerCase()).executeTakeFirst();
  return row && toKnownUser(row);
}

/**
 * The active user with this address, and what its API key is checked against. An unknown address costs the database and
 * us as much as a known one: there is one row either way, and `user` makes something of it only when it is asked for.
 */
export async function findCredential(
  db: Reader,
  email: string,
): Promise<{ readonly apiKeyHash: string | undefined; readonly user: () => KnownUser | undefined }> {
  const row = await db
    .selectFrom(sql<{ one: number }>`(select 1 as one)`.as('always'))
    .leftJoin('users', (join) =>
      join.on('users.email_lower', '=', email.toLowerCase()).on('users.is_active', '=', 1),
    )
    .selectAll('users')
    .executeTakeFirst();
  return {
    apiKeyHash: row?.api_key_hash ?? undefined,
    user: () => (row?.id == null ? undefined : toKnownUser(row as UserRow)),
  };
}

/** All active users and bots, oldest first. */
export async function listUsers(db: Reader): Promise<User[]> {
  return (await activeUsers(db).orderBy('id').execute()).map(fromRow);
}

/** The new user's id; `undefined` when an active user has the address. */
export async function insertUser(
  db: Transaction<ServerTables>,
  user: NewUser,
  now: number,
): Promise<number | undefined> {
  const row = await db
    .insertInto('users')
    .values({
      email: user.email,
      email_lower: user.email.toLowerCase(),
      full_name: user.fullName,
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

export async function storeApiKeyHash(
  db: Transaction<ServerTables>,
  id: number,
  hash: string,
): Promise<void> {
  await db.updateTable('users').set({ api_key_hash: hash }).where('id', '=', id).execute();
}

/**
 * A user as it is now, if it is active and has its key still; what would change that, or its role, waits for the end of
 * the transaction then.
 */
export async function lockUser(
  { db }: ServerTransaction,
  { id, apiKeyHash }: Pick<KnownUser, 'id' | 'apiKeyHash'>,
): Promise<KnownUser | undefined> {
  const row = await activeUsers(db)
    .where('id', '=', id)
    .where('api_key_hash', '=', apiKeyHash)
    .modifyEnd(keepingRows(db))
    .executeTakeFirst();
  return row && toKnownUser(row);
}

/** The ids of all active users and bots. */
export async function activeUserIds(db: Reader): Promise<number[]> {
  const rows = await db.selectFrom('users').select('id').where('is_active', '=', 1).execute();
  return rows.map(({ id }) => id);
}

/** Deactivates a user and the bots that belong to it; their ids. */
export async function deactivateUser(db: Transaction<ServerTables>, id: number): Promise<number[]> {
  const rows = await db
    .updateTable('users')
    .set({ is_active: 0 })
    .where('is_active', '=', 1)
    .where((is) => is.or([is('id', '=', id), is('bot_owner_id', '=', id)]))
    .returning('id')
    .execute();
  return rows.map((row) => row.id);
}

function activeUsers(db: Reader) {
  return db.selectFrom('users').selectAll().where('is_active', '=', 1);
}

function toKnownUser(row: UserRow): KnownUser {
  return { ...fromRow(row), apiKeyHash: row.api_key_hash };
}

function fromRow(row: UserRow): User {
  return {
    id: row.id,
    email: row.email,
    fullName: row.full_name,
    role: row.role as Role,
    isBot: row.is_bot === 1,
    botOwnerId: row.bot_owner_id ?? undefined,
  };
}
