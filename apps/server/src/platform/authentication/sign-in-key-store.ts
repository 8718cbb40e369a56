import type { UserId } from '@waxwing/protocol';
import type { Transaction } from 'kysely';
import type { ServerTables } from '../../tables.js';

/** Maximum sign-in keys per user. A further sign-in deletes the oldest key. */
export const maximumSignInKeys = 50;

/**
 * Stores a sign-in key for a locked user, and deletes the oldest keys above {@link maximumSignInKeys}. Returns the
 * hashes of the deleted keys.
 */
export async function insertSignInKey(
  db: Transaction<ServerTables>,
  userId: UserId,
  keyHash: string,
  now: number,
): Promise<string[]> {
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
  const evicted = await db
    .deleteFrom('sign_in_keys')
    .where('user_id', '=', userId)
    .where('id', 'not in', kept)
    .returning('key_hash')
    .execute();
  return evicted.map(({ key_hash }) => key_hash);
}

export async function deleteSignInKeys(db: Transaction<ServerTables>, userId: UserId): Promise<void> {
  await db.deleteFrom('sign_in_keys').where('user_id', '=', userId).execute();
}
