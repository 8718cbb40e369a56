import { type EndedKey, maximumTimeToLiveSeconds, type PushKeyId } from '@waxwing/protocol';
import type { Kysely, Transaction } from 'kysely';
import type { RealmId } from '../../servers/server-tables.js';
import type { RelayTables } from '../../tables.js';
import { addresseeOfToken, type TokenAddressee } from './addressee.js';

/** Tolerance for notifications that were on their way to the relay when the server ended the key. */
const onTheWayMilliseconds = 60_000;
/** Retention of ended keys. No notification lives longer, even if an operator requeues it. */
const keptMilliseconds = maximumTimeToLiveSeconds * 1000;

/** Ends keys of a realm at `now` (Unix milliseconds). Idempotent. */
export async function endKeys(
  db: Transaction<RelayTables>,
  realmId: RealmId,
  keys: readonly EndedKey[],
  now: number,
): Promise<void> {
  if (keys.length === 0) return;
  const rows = new Map(
    keys.map(({ tokenId, pushKeyId }) => {
      const row = { realm_id: realmId, push_account_id: addresseeOfToken(tokenId), push_key_id: pushKeyId };
      return [`${row.push_account_id} ${pushKeyId}`, { ...row, ended_at: now }];
    }),
  );
  // Sorted, because without a fixed lock order two transactions could deadlock.
  const sorted = [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
  await db
    .insertInto('ended_keys')
    .values(sorted)
    .onConflict((conflict) =>
      conflict
        .columns(['realm_id', 'push_account_id', 'push_key_id'])
        .doUpdateSet(({ ref }) => ({ ended_at: ref('excluded.ended_at') }))
        .where((is) => is(is.ref('ended_keys.ended_at'), '<', is.ref('excluded.ended_at'))),
    )
    .execute();
}

/** Address and arrival time of a notification. `pushKeyId` is missing in the older generation. */
export interface KeyedNotification {
  readonly realmId: RealmId;
  readonly addressee: string;
  readonly pushKeyId?: number;
  /** Unix milliseconds. */
  readonly receivedAt: number;
}

/**
 * Whether the key of a notification ended after the relay received the notification, or at most a minute earlier.
 * Always `false` in the older generation.
 */
export async function hasEndedKey(
  db: Kysely<RelayTables>,
  { realmId, addressee, pushKeyId, receivedAt }: KeyedNotification,
): Promise<boolean> {
  if (pushKeyId === undefined) return false;
  const row = await db
    .selectFrom('ended_keys')
    .select('ended_at')
    .where('realm_id', '=', realmId)
    .where('push_account_id', '=', addressee as TokenAddressee)
    .where('push_key_id', '=', pushKeyId as PushKeyId)
    .executeTakeFirst();
  return row !== undefined && rejectsReceived(row.ended_at, receivedAt);
}

/** Whether an ended key rejects a notification that the relay received at `receivedAt`. Both in Unix milliseconds. */
export function rejectsReceived(endedAt: number, receivedAt: number): boolean {
  return receivedAt <= endedAt + onTheWayMilliseconds;
}

/**
 * Deletes up to `limit` keys that ended too long before `now` to affect any notification. Returns the number of deleted
 * keys.
 */
export async function forgetEndedKeys(
  db: Transaction<RelayTables>,
  now: number,
  limit: number,
): Promise<number> {
  const before = now - keptMilliseconds;
  const old = await db
    .selectFrom('ended_keys')
    .select('ended_at')
    .where('ended_at', '<', before)
    .orderBy('ended_at')
    .limit(limit)
    .execute();
  const last = old.at(-1)?.ended_at;
  if (last === undefined) return 0;
  const { numDeletedRows } = await db
    .deleteFrom('ended_keys')
    .where('ended_at', '<=', last)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
