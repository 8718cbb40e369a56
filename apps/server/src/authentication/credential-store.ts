import type { UserId } from '@waxwing/protocol';
import { fixedQuery, keepingRows } from '@waxwing/storage';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Role } from '../permissions/roles.js';
import type { ServerTables, ServerTransaction } from '../tables.js';

/** An active user or bot that asks, as its requests are judged by. */
export interface KnownUser {
  readonly id: UserId;
  readonly role: Role;
  readonly isBot: boolean;
  /** What its API key is checked against. */
  readonly apiKeyHash: string;
}

/** Who comes with an address and an API key. */
export interface Credential {
  readonly email: string;
  /** SHA-256 of the key. */
  readonly keyHash: string;
}

/**
 * The active user with this address, and what its API key is checked against: the hash of a key that it was given for its
 * password, where it is the one that was sent, and otherwise of the key that it was made with. An unknown address costs
 * the database and us as much as a known one: there is one row either way, and `user` makes something of it only when it
 * is asked for.
 */
export async function findCredential(
  db: Kysely<ServerTables>,
  { email, keyHash }: Credential,
): Promise<{ readonly apiKeyHash: string | undefined; readonly user: () => KnownUser | undefined }> {
  const [row] = await credentialOf(db, { emailLower: email.toLowerCase(), keyHash });
  const apiKeyHash = row?.key_hash ?? row?.api_key_hash ?? undefined;
  return {
    apiKeyHash,
    user() {
      if (row?.id == null || apiKeyHash === undefined) return undefined;
      return { id: row.id, role: row.role as Role, isBot: row.is_bot === 1, apiKeyHash };
    },
  };
}

interface CredentialSent {
  readonly emailLower: string;
  readonly keyHash: string;
}

interface CredentialRow {
  readonly id: UserId | null;
  readonly role: number | null;
  readonly is_bot: number | null;
  readonly api_key_hash: string | null;
  readonly key_hash: string | null;
}

const credentialOf = fixedQuery<ServerTables, CredentialSent, CredentialRow>((db, parameter) =>
  db
    .selectFrom(sql<{ one: number }>`(select 1 as one)`.as('always'))
    .leftJoin('users', (join) =>
      // As a parameter SQLite could not tell that the index of active users serves, and would compile each time.
      join.on('users.email_lower', '=', parameter('emailLower')).on('users.is_active', '=', sql.lit(1)),
    )
    .leftJoin('sign_in_keys', (join) =>
      join
        .onRef('sign_in_keys.user_id', '=', 'users.id')
        .on('sign_in_keys.key_hash', '=', parameter('keyHash')),
    )
    .select(['users.id', 'users.role', 'users.is_bot', 'users.api_key_hash', 'sign_in_keys.key_hash']),
);

/**
 * A user as it is now, if it is active and has its key still; what would change that, or its role, waits for the end of
 * the transaction then.
 */
export async function lockUser(
  { db }: ServerTransaction,
  { id, apiKeyHash }: Pick<KnownUser, 'id' | 'apiKeyHash'>,
): Promise<KnownUser | undefined> {
  const [row] = await heldUser(db, { id });
  if (row === undefined) return undefined;
  if (row.api_key_hash !== apiKeyHash && !(await lockSignInKey(db, id, apiKeyHash))) return undefined;
  return { id, role: row.role as Role, isBot: row.is_bot === 1, apiKeyHash };
}

type UserRow = Pick<Selectable<ServerTables['users']>, 'role' | 'is_bot' | 'api_key_hash'>;

const heldUser = fixedQuery<ServerTables, Pick<KnownUser, 'id'>, UserRow>((db, parameter) =>
  db
    .selectFrom('users')
    .select(['role', 'is_bot', 'api_key_hash'])
    .where('id', '=', parameter('id'))
    .where('is_active', '=', sql.lit(1))
    .modifyEnd(keepingRows(db)),
);

/** A statement of its own, which sees what was committed while the user was waited for. */
async function lockSignInKey(db: Transaction<ServerTables>, id: UserId, keyHash: string): Promise<boolean> {
  const row = await db
    .selectFrom('sign_in_keys')
    .select('id')
    .where('user_id', '=', id)
    .where('key_hash', '=', keyHash)
    .modifyEnd(keepingRows(db))
    .executeTakeFirst();
  return row !== undefined;
}

/** Replaces what a user's API key is checked against. */
export async function storeApiKeyHash(
  db: Transaction<ServerTables>,
  id: UserId,
  hash: string,
): Promise<void> {
  await db.updateTable('users').set({ api_key_hash: hash }).where('id', '=', id).execute();
}
