import type { UserId } from '@waxwing/protocol';
import { fixedQuery, keepingRows } from '@waxwing/storage';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import { addressKey } from '../names/address-key.js';
import type { Role } from './roles.js';

/** An active user or bot with the fields that authorization needs. */
export interface KnownUser {
  readonly id: UserId;
  readonly role: Role;
  readonly isBot: boolean;
  /** The hash that the user's API key is verified against. */
  readonly apiKeyHash: string;
}

/** An email address and API key to verify. */
export interface Credential {
  readonly email: string;
  /** SHA-256 of the key. */
  readonly keyHash: string;
}

/**
 * Returns the active user with this address, and the hash that the user's API key is verified against: the hash of
 * the matching sign-in key, or else of the user's main key. Takes the same time for known and unknown addresses: the
 * query always returns one row, and `user` is evaluated only on demand.
 */
export async function findCredential(
  db: Kysely<ServerTables>,
  { email, keyHash }: Credential,
): Promise<{ readonly apiKeyHash: string | undefined; readonly user: () => KnownUser | undefined }> {
  const [row] = await credentialOf(db, { emailLower: addressKey(email), keyHash });
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
      // A literal, not a parameter: with a parameter, SQLite could not use the partial index of active users and would
      // recompile the query each time.
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
 * Returns a user's current state if the user is active and the key is valid. Locks the user's state, role and key
 * until the transaction ends.
 */
export async function lockUser(
  { db }: ServerTransaction,
  { id, apiKeyHash }: Pick<KnownUser, 'id' | 'apiKeyHash'>,
): Promise<KnownUser | undefined> {
  const [row] = await lockedUser(db, { id });
  if (row === undefined) return undefined;
  if (row.api_key_hash !== apiKeyHash && !(await lockSignInKey(db, id, apiKeyHash))) return undefined;
  return { id, role: row.role as Role, isBot: row.is_bot === 1, apiKeyHash };
}

type UserRow = Pick<Selectable<ServerTables['users']>, 'role' | 'is_bot' | 'api_key_hash'>;

const lockedUser = fixedQuery<ServerTables, Pick<KnownUser, 'id'>, UserRow>((db, parameter) =>
  db
    .selectFrom('users')
    .select(['role', 'is_bot', 'api_key_hash'])
    .where('id', '=', parameter('id'))
    .where('is_active', '=', sql.lit(1))
    .modifyEnd(keepingRows(db)),
);

/**
 * Locks a sign-in key, and returns whether it exists. This is a separate statement, so that it sees changes that were
 * committed while the transaction waited for the lock on the user.
 */
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

/** Replaces the hash of a user's main API key. */
export async function storeApiKeyHash(
  db: Transaction<ServerTables>,
  id: UserId,
  hash: string,
): Promise<void> {
  await db.updateTable('users').set({ api_key_hash: hash }).where('id', '=', id).execute();
}
