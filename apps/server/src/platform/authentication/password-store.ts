import type { UserId } from '@waxwing/protocol';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { ServerTables } from '../../tables.js';
import { addressKey } from '../names/address-key.js';

/** A person who can sign in with a password. */
export interface PasswordUser {
  readonly id: UserId;
  readonly email: string;
  readonly isActive: boolean;
}

/**
 * Returns the person with this address and their password hash. If several people have had the address, prefers the
 * active person. Takes the same time if the address is unknown or the person has no password.
 */
export async function findPassword(
  db: Kysely<ServerTables>,
  email: string,
): Promise<{ readonly hash: string | undefined; readonly holder: () => PasswordUser | undefined }> {
  const row = await db
    .selectFrom(sql<{ one: number }>`(select 1 as one)`.as('always'))
    .leftJoin('users', (join) =>
      join.on('users.email_lower', '=', addressKey(email)).on('users.is_bot', '=', 0),
    )
    .leftJoin('passwords', 'passwords.user_id', 'users.id')
    .select(['users.id', 'users.email', 'users.is_active', 'passwords.hash'])
    .orderBy('users.is_active', 'desc')
    .orderBy('users.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return {
    hash: row?.hash ?? undefined,
    holder() {
      if (row?.id == null || row.email === null) return undefined;
      return { id: row.id, email: row.email, isActive: row.is_active === 1 };
    },
  };
}

/** Returns whether this hash is still the person's current hash. */
export async function hasPasswordHash(
  db: Transaction<ServerTables>,
  userId: UserId,
  hash: string,
): Promise<boolean> {
  const query = db.selectFrom('passwords').select('user_id').where('user_id', '=', userId);
  return (await query.where('hash', '=', hash).executeTakeFirst()) !== undefined;
}

/** Sets or replaces a person's password. */
export async function storePassword(
  db: Transaction<ServerTables>,
  userId: UserId,
  hash: string,
): Promise<void> {
  await db
    .insertInto('passwords')
    .values({ user_id: userId, hash })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ hash }))
    .execute();
}
