import type { UserId } from '@waxwing/protocol';
import { keepingRows } from '@waxwing/storage';
import { type Kysely, sql, type Transaction } from 'kysely';
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

/**
 * The active user with this address, and what its API key is checked against. An unknown address costs the database and
 * us as much as a known one: there is one row either way, and `user` makes something of it only when it is asked for.
 */
export async function findCredential(
  db: Kysely<ServerTables>,
  email: string,
): Promise<{ readonly apiKeyHash: string | undefined; readonly user: () => KnownUser | undefined }> {
  const row = await db
    .selectFrom(sql<{ one: number }>`(select 1 as one)`.as('always'))
    .leftJoin('users', (join) =>
      join.on('users.email_lower', '=', email.toLowerCase()).on('users.is_active', '=', 1),
    )
    .select(['users.id', 'users.role', 'users.is_bot', 'users.api_key_hash'])
    .executeTakeFirst();
  return {
    apiKeyHash: row?.api_key_hash ?? undefined,
    user() {
      if (row?.id == null || row.api_key_hash === null) return undefined;
      return { id: row.id, role: row.role as Role, isBot: row.is_bot === 1, apiKeyHash: row.api_key_hash };
    },
  };
}

/**
 * A user as it is now, if it is active and has its key still; what would change that, or its role, waits for the end of
 * the transaction then.
 */
export async function lockUser(
  { db }: ServerTransaction,
  { id, apiKeyHash }: Pick<KnownUser, 'id' | 'apiKeyHash'>,
): Promise<KnownUser | undefined> {
  const row = await db
    .selectFrom('users')
    .select(['role', 'is_bot'])
    .where('id', '=', id)
    .where('api_key_hash', '=', apiKeyHash)
    .where('is_active', '=', 1)
    .modifyEnd(keepingRows(db))
    .executeTakeFirst();
  return row && { id, role: row.role as Role, isBot: row.is_bot === 1, apiKeyHash };
}

/** Replaces what a user's API key is checked against. */
export async function storeApiKeyHash(
  db: Transaction<ServerTables>,
  id: UserId,
  hash: string,
): Promise<void> {
  await db.updateTable('users').set({ api_key_hash: hash }).where('id', '=', id).execute();
}
