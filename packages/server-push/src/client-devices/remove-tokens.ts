import type { DatabaseWithJobs } from '@waxwing/jobs';
import { encodeRelayRemoval, type TokenId } from '@waxwing/protocol';
import { type Kysely, sql } from 'kysely';
import { enqueueRemovalJobs, type Removal, type Removing } from '../registrations/removal-jobs.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';

/**
 * How tokens are removed at the relay. A token is one row there for all users of the organization, so that it stays while
 * any of them uses it.
 */
export const tokenRemoving: Removing<TokenId> = {
  jobKind: 'client-devices/remove-tokens',
  sort: sortFreedTokens,
  encode: (realmUuid, free) => encodeRelayRemoval(realmUuid, [], free),
};

/** Enqueues the removal in the transaction that frees the tokens. */
export function enqueueTokenRemoval(
  database: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>,
  transaction: PushTransaction,
  removal: Removal<TokenId>,
): Promise<void> {
  return enqueueRemovalJobs(database, transaction, tokenRemoving, removal);
}

async function sortFreedTokens(db: Kysely<ServerPushTables>, freed: readonly TokenId[]) {
  const used = db
    .selectFrom('client_devices')
    .select(['push_token_id as token', sql<number>`0`.as('is_pending')])
    .where('push_token_id', 'in', freed);
  const pending = db
    .selectFrom('client_devices')
    .select(['pending_push_token_id as token', sql<number>`1`.as('is_pending')])
    .where('pending_push_token_id', 'in', freed)
    .where('pending_encrypted_registration', 'is not', null);
  // One statement sees one state: a token that comes into force between two would be in neither, and be removed.
  const rows = await used.unionAll(pending).execute();
  const tokensOf = (isPending: boolean) =>
    new Set(rows.flatMap(({ token, is_pending }) => ((is_pending === 1) === isPending ? token : [])));
  const [usedTokens, pendingTokens] = [tokensOf(false), tokensOf(true)];
  const unused = freed.filter((token) => !usedTokens.has(token));
  return {
    free: unused.filter((token) => !pendingTokens.has(token)),
    undecided: unused.filter((token) => pendingTokens.has(token)),
  };
}
