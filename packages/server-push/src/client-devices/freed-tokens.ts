import { type PushKeyId, parseJson, type TokenId } from '@waxwing/protocol';
import type { ClientDeviceRow } from './client-device-state.js';

/**
 * A token that a device no longer uses, and one of the device's keys. The key's id is `null` if the device had no key.
 */
export interface FreedToken {
  readonly tokenId: TokenId;
  readonly pushKeyId: PushKeyId | null;
}

/** The columns with a device's keys. */
export type KeyColumns = Pick<ClientDeviceRow, 'push_key_id' | 'former_push_keys'>;

/** The columns that {@link freedBy} needs. */
export const freeableColumns = [
  'push_token_id',
  'pending_push_token_id',
  'push_key_id',
  'former_push_keys',
] as const;

/** The id of a former key, and the time of its replacement in Unix milliseconds. */
type FormerKey = readonly [PushKeyId, number];

/**
 * How long the relay may hold a notification for a replaced key: one day, plus an hour for notifications that were in
 * flight when the key was replaced.
 */
const formerKeyMilliseconds = 25 * 60 * 60_000;
const maximumFormerKeys = 10;

/**
 * Returns `former_push_keys` including the key that is about to be replaced. Drops keys that are so old that no relay
 * holds a notification for them.
 */
export function withFormerKey(row: KeyColumns, now: number): string | null {
  const former = formerKeysOf(row).filter(([, replacedAt]) => replacedAt > now - formerKeyMilliseconds);
  if (row.push_key_id === null) return row.former_push_keys;
  return JSON.stringify([[row.push_key_id, now] satisfies FormerKey, ...former].slice(0, maximumFormerKeys));
}

/** Returns the ids of the device's key and its former keys. */
export function pushKeyIdsOf(row: KeyColumns): PushKeyId[] {
  const former = formerKeysOf(row).map(([id]) => id);
  return [...new Set(row.push_key_id === null ? former : [row.push_key_id, ...former])];
}

function formerKeysOf({ former_push_keys: text }: KeyColumns): FormerKey[] {
  return text === null ? [] : (parseJson(text) as unknown as FormerKey[]);
}

/** Whether a device's token is in the list. */
export function isAmong(tokenIds: readonly TokenId[], tokenId: TokenId | null): boolean {
  return tokenId !== null && tokenIds.includes(tokenId);
}

/** Combines each token with each key of the device. Ignores duplicate tokens. */
export function freedTokens(row: KeyColumns, tokens: readonly (TokenId | null)[]): FreedToken[] {
  const ids = pushKeyIdsOf(row);
  const keys = ids.length === 0 ? [null] : ids;
  const present = new Set(tokens.filter((token) => token !== null));
  return [...present].flatMap((tokenId) => keys.map((pushKeyId) => ({ tokenId, pushKeyId })));
}

/** Returns the tokens that deleted devices used or were about to use. */
export function freedBy(
  rows: readonly Pick<ClientDeviceRow, (typeof freeableColumns)[number]>[],
): FreedToken[] {
  return rows.flatMap((row) => freedTokens(row, [row.push_token_id, row.pending_push_token_id]));
}
