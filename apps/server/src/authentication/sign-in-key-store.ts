import type { UserId } from '@waxwing/protocol';
import type { Transaction } from 'kysely';
import type { ServerTables } from '../tables.js';

/** Signing in once more takes the key of whoever did it longest ago. */
export const maximumSignInKeys = 50;

/** Adds a key that a locked user's password was answered with, and removes the oldest beyond the most that one has. */
export async function insertSignInKey(
  db: Transaction<ServerTables>,
  userId: UserId,
  keyHash: string,
  now: number,
): Promise<void> {
  await db
    .insertInto('sign_in_keys')
    .values({ user_id: userId, key_hash: keyHash, created_at: now })
    .execute();
  const kept = db
    .selectFrom('sign_in_keys')
    .select('id')
    .where('user_id', '=', userId)
    .orderBy('id', 'desc')
    .limit(maximumSignInKeys);
  await db.deleteFrom('sign_in_keys').where('user_id', '=', userId).where('id', 'not in', kept).execute();
}

/** Signs a user out wherever it signed in with its password. */
export async function deleteSignInKeys(db: Transaction<ServerTables>, userId: UserId): Promise<void> {
  await db.deleteFrom('sign_in_keys').where('user_id', '=', userId).execute();
}
