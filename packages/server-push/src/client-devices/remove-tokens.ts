import type { DatabaseWithJobs } from '@waxwing/jobs';
import { type EndedKey, encodeRelayRemoval, type TokenId } from '@waxwing/protocol';
import { type Kysely, sql } from 'kysely';
import {
  enqueueRemovalJobs,
  type Removal,
  type Removing,
  type SortedNames,
} from '../registrations/removal-jobs.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { type FreedToken, type KeyColumns, pushKeyIdsOf } from './freed-tokens.js';

/**
 * Removal of tokens at the relay. The relay has one row per token for all users of the organization, so a token stays
 * as long as another user's device uses it. In that case, only the keys of the device that freed the token are dropped:
 * the relay deletes its queued notifications for these keys.
 */
export const tokenRemoving: Removing<FreedToken> = {
  jobKind: 'client-devices/remove-tokens',
  sort: sortFreedTokens,
  encode: (realmUuid, { free, ended = [] }) =>
    encodeRelayRemoval(realmUuid, {
      tokens: [...new Set(free.map(({ tokenId }) => tokenId))],
      endedKeys: ended.filter(hasKey),
    }),
};

/** Enqueues the removal in the transaction that frees the tokens. */
export function enqueueTokenRemoval(
  database: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>,
  transaction: PushTransaction,
  removal: Removal<FreedToken>,
): Promise<void> {
  return enqueueRemovalJobs(database, transaction, tokenRemoving, removal);
}

interface UsedToken extends KeyColumns {
  readonly token: TokenId | null;
  readonly is_pending: number;
}

async function sortFreedTokens(
  db: Kysely<ServerPushTables>,
  freed: readonly FreedToken[],
): Promise<SortedNames<FreedToken>> {
  const rows = await devicesWith(db, [...new Set(freed.map(({ tokenId }) => tokenId))]);
  const tokensOf = (isPending: boolean) =>
    new Set(rows.flatMap(({ token, is_pending }) => ((is_pending === 1) === isPending ? token : [])));
  const [usedTokens, pendingTokens] = [tokensOf(false), tokensOf(true)];
  const keysInUse = new Set(
    rows.flatMap((row) => pushKeyIdsOf(row).map((pushKeyId) => nameOf({ tokenId: row.token, pushKeyId }))),
  );
  const unused = freed.filter(({ tokenId }) => !usedTokens.has(tokenId));
  const isFree = ({ tokenId }: FreedToken) => !usedTokens.has(tokenId) && !pendingTokens.has(tokenId);
  return {
    free: unused.filter(isFree),
    undecided: unused.filter(({ tokenId }) => pendingTokens.has(tokenId)),
    ended: freed.filter((each) => hasKey(each) && !isFree(each) && !keysInUse.has(nameOf(each))),
  };
}

function devicesWith(db: Kysely<ServerPushTables>, tokens: readonly TokenId[]): Promise<UsedToken[]> {
  const used = db
    .selectFrom('client_devices')
    .select(['push_token_id as token', 'push_key_id', 'former_push_keys', sql<number>`0`.as('is_pending')])
    .where('push_token_id', 'in', tokens);
  const pending = db
    .selectFrom('client_devices')
    .select(['pending_push_token_id as token', 'push_key_id', 'former_push_keys'])
    .select(sql<number>`1`.as('is_pending'))
    .where('pending_push_token_id', 'in', tokens)
    .where('pending_encrypted_registration', 'is not', null);
  // A single statement reads one consistent state. With two statements, a token that becomes active between them would
  // be in neither result and would be removed by mistake.
  return used.unionAll(pending).execute();
}

function hasKey(freed: FreedToken): freed is EndedKey {
  return freed.pushKeyId !== null;
}

function nameOf({ tokenId, pushKeyId }: { tokenId: TokenId | null; pushKeyId: number | null }): string {
  return `${tokenId} ${pushKeyId}`;
}
