import { matchesCredential, type Secret } from '@waxwing/service/config';
import type { RelayServerTables } from './server-tables.js';

/** The stored keys of a server. */
export type StoredKeys = Pick<
  RelayServerTables['servers'],
  'key_hash' | 'previous_key_hash' | 'previous_key_until'
>;

/** How long the previous key is accepted after a rotation, in milliseconds. */
const overlapMilliseconds = 10 * 60_000;

/**
 * Compares a key with a server's stored keys in constant time. Returns `undefined` for a wrong or expired key, and for
 * an unknown server (`stored` is `undefined`).
 */
export function matchingKey(
  key: Secret<string>,
  stored: StoredKeys | undefined,
  now: number,
): 'current' | 'previous' | undefined {
  const isCurrent = matchesCredential(key.reveal(), stored?.key_hash);
  const isPrevious = matchesCredential(key.reveal(), stored?.previous_key_hash ?? undefined);
  if (isCurrent) return 'current';
  return isPrevious && now < (stored?.previous_key_until ?? 0) ? 'previous' : undefined;
}

/**
 * Returns the stored keys after a rotation. The replaced key stays valid for ten more minutes. A server that did not
 * receive the response rotates again with the replaced key. This does not extend the ten minutes: otherwise, a thief
 * could keep a stolen old key valid forever.
 */
export function rotateKeys(
  stored: StoredKeys,
  {
    keyHash,
    used,
    now,
  }: { readonly keyHash: string; readonly used: 'current' | 'previous'; readonly now: number },
): StoredKeys {
  if (keyHash === stored.key_hash) return stored;
  if (used === 'previous') return { ...stored, key_hash: keyHash };
  return {
    key_hash: keyHash,
    previous_key_hash: stored.key_hash,
    previous_key_until: now + overlapMilliseconds,
  };
}
