import type { ClientDeviceId, TokenId, UserId } from '@waxwing/protocol';
import { amongNumbersOf, amongTextsOf, fixedQuery, lockingRows } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { compareDates } from '../registrations/compare-dates.js';
import type { LongPending } from '../registrations/fail-long-pending.js';
import type { AddressedEvent } from '../server-push-options.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { type ClientDeviceRow, deviceUpdate } from './client-device-state.js';
import { type FreedToken, freedBy, freedTokens, isAmong } from './freed-tokens.js';

type Reader = Kysely<ServerPushTables>;

/** The identity of one registration of one device. */
export interface TokenKey {
  readonly id: ClientDeviceId;
  readonly generation: number;
}

/** The effects of a relay's decision. */
export interface Settled {
  readonly events: readonly AddressedEvent[];
  /** Tokens that a device no longer uses. */
  readonly freed: readonly FreedToken[];
}

/** The effects of activating a token that the relay has stored. */
export interface ActivatedToken extends Settled {
  /** Whether this device now uses the token. False if a different device keeps the token, or if no device uses it. */
  readonly isInForce: boolean;
  /** Devices that lost the token to this device. */
  readonly losers: readonly ClientDeviceRow[];
}

const nothingPending = {
  pending_push_token_id: null,
  pending_push_token_kind: null,
  pending_bouncer_public_key: null,
  pending_encrypted_registration: null,
} as const;
/** Column values after a refusal. The refused token's id stays, so that the phone can see which token was refused. */
const refusedPending = { pending_bouncer_public_key: null, pending_encrypted_registration: null } as const;
const noToken = { push_token_id: null, push_token_kind: null, active_generation: null } as const;

/** Reads pending registrations, in the order of `keys`. Returns `undefined` for each that was settled or removed. */
export async function pendingTokens(
  db: Reader,
  keys: readonly TokenKey[],
): Promise<(ClientDeviceRow | undefined)[]> {
  const rows = await pendingAmong(db, { ids: JSON.stringify(keys.map(({ id }) => id)) });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return keys.map(({ id, generation }) => {
    const row = byId.get(id);
    return row?.generation === generation ? row : undefined;
  });
}

const pendingAmong = fixedQuery<ServerPushTables, { readonly ids: string }, ClientDeviceRow>(
  (db, parameter) =>
    db
      .selectFrom('client_devices')
      .selectAll()
      .where('id', 'in', amongNumbersOf<ServerPushTables, ClientDeviceId>(db, parameter('ids')))
      .where('pending_encrypted_registration', 'is not', null),
);

/** A token that the relay has stored. */
interface StoredToken {
  readonly userId: UserId;
  /** The token's id, and other ids of the same token. */
  readonly tokenIds: readonly [TokenId, ...TokenId[]];
  /** Whether the phone has since registered in the older generation, and the relay has accepted that registration. */
  readonly isReplaced: boolean;
}

/**
 * Activates a pending token. If several of the user's devices have this token, only the device that registered last
 * keeps it: the devices are the same phone, which would otherwise get every notification several times.
 */
export async function activateToken(
  transaction: PushTransaction,
  key: TokenKey,
  { userId, tokenIds, isReplaced }: StoredToken,
  now: number,
): Promise<ActivatedToken> {
  const { db } = transaction;
  const [tokenId] = tokenIds;
  const locked = await lockTokens(transaction, userId, tokenIds);
  const own = locked.find(({ id }) => id === key.id);
  // The registration is no longer pending, so no device uses the token that the relay has just stored.
  if (own?.generation !== key.generation || own.pending_encrypted_registration === null) {
    return { events: [], freed: [{ tokenId, pushKeyId: null }], isInForce: false, losers: [] };
  }
  const rows = locked.filter((row) => row === own || isAmong(tokenIds, row.push_token_id));
  const newest = rows.reduce((one, other) => (isNewer(other, one, now) ? other : one));
  if (newest !== own || isReplaced) {
    await putInForce(db, { ...key, tokenId: null, kind: null, activeGeneration: null });
    const changed = { push_token_id: null, pending_push_token_id: null };
    const freed = freedTokens(own, [own.push_token_id, tokenId]);
    return { events: [deviceUpdate(own, changed)], freed, isInForce: false, losers: [] };
  }
  const kind = own.pending_push_token_kind;
  await putInForce(db, { ...key, tokenId, kind, activeGeneration: key.generation });
  const others = rows.filter((row) => row !== own);
  await dropTokens(db, others);
  const confirmed = deviceUpdate(own, { push_token_id: tokenId, pending_push_token_id: null });
  const events = [...others.map((row) => deviceUpdate(row, { push_token_id: null })), confirmed];
  const former = own.push_token_id === tokenId ? null : own.push_token_id;
  const freed = [own, ...others].flatMap((row) =>
    freedTokens(row, [row === own ? former : row.push_token_id]),
  );
  return { events, freed, isInForce: true, losers: others };
}

function isNewer(one: ClientDeviceRow, other: ClientDeviceRow, now: number): boolean {
  const order = compareDates(one.push_token_updated_at ?? 0, other.push_token_updated_at ?? 0, now);
  return order === 0 ? one.id > other.id : order > 0;
}

interface InForce extends TokenKey {
  readonly tokenId: TokenId | null;
  readonly kind: string | null;
  readonly activeGeneration: number | null;
}

const putInForce = fixedQuery<ServerPushTables, InForce, object>((db, parameter) =>
  db
    .updateTable('client_devices')
    .set({
      push_token_id: parameter('tokenId'),
      push_token_kind: parameter('kind'),
      active_generation: parameter('activeGeneration'),
      ...nothingPending,
    })
    .where('id', '=', parameter('id'))
    .where('generation', '=', parameter('generation'))
    .returning('id'),
);

async function dropTokens(db: PushTransaction['db'], rows: readonly ClientDeviceRow[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  await db.updateTable('client_devices').set(noToken).where('id', 'in', ids).execute();
}

/**
 * Marks a pending registration as failed. Returns its event, or an empty array if the registration is no longer
 * pending.
 */
export async function failToken(
  { db }: PushTransaction,
  key: TokenKey,
  errorCode: string,
): Promise<AddressedEvent[]> {
  const failed = await db
    .updateTable('client_devices')
    .set({ push_registration_error_code: errorCode, ...refusedPending })
    .where('id', '=', key.id)
    .where('generation', '=', key.generation)
    .where('pending_encrypted_registration', 'is not', null)
    .returning(['id', 'user_id'])
    .execute();
  return failed.map((row) => deviceUpdate(row, { push_registration_error_code: errorCode }));
}

/** Marks registrations that have been pending for too long as failed. Returns an event for each. */
export async function failLongPendingTokens(
  { db }: PushTransaction,
  { before, limit, errorCode }: LongPending,
): Promise<AddressedEvent[]> {
  const waiting = db
    .selectFrom('client_devices')
    .select('id')
    .where('pending_encrypted_registration', 'is not', null)
    .where('push_token_updated_at', '<', before)
    .limit(limit);
  const failed = await db
    .updateTable('client_devices')
    .set({ push_registration_error_code: errorCode, ...refusedPending })
    .where('id', 'in', waiting)
    // Repeats the subquery's condition, because a new registration can replace the pending registration between the two
    // reads.
    .where('pending_encrypted_registration', 'is not', null)
    .where('push_token_updated_at', '<', before)
    .returning(['id', 'user_id'])
    .execute();
  return failed.map((row) => deviceUpdate(row, { push_registration_error_code: errorCode }));
}

/** A device's active token at the time when a notification was sent to it. */
export type TokenInForce = Pick<ClientDeviceRow, 'id' | 'push_token_id' | 'active_generation'>;

/**
 * Drops a token that the relay no longer knows. Returns its event, or an empty array if the phone has registered again
 * since.
 */
export async function dropDeadToken(
  { db }: PushTransaction,
  { id, push_token_id, active_generation }: TokenInForce,
): Promise<AddressedEvent[]> {
  const dropped = await db
    .updateTable('client_devices')
    .set(noToken)
    .where('id', '=', id)
    .where('push_token_id', '=', push_token_id)
    .where('active_generation', '=', active_generation)
    .returning(['id', 'user_id'])
    .execute();
  return dropped.map((row) => deviceUpdate(row, { push_token_id: null }));
}

/**
 * Locks the user's devices that have one of the tokens as their active or pending token. Locks in id order to prevent
 * deadlocks. Devices with a pending token are included so that two concurrent confirmations see each other.
 */
export async function lockTokens(
  { db }: PushTransaction,
  userId: UserId,
  tokenIds: readonly TokenId[],
): Promise<readonly ClientDeviceRow[]> {
  return tokenIds.length === 0 ? [] : lockedTokens(db, { userId, tokenIds: JSON.stringify(tokenIds) });
}

const lockedTokens = fixedQuery<
  ServerPushTables,
  { readonly userId: UserId; readonly tokenIds: string },
  ClientDeviceRow
>((db, parameter) => {
  const among = () => amongTextsOf<ServerPushTables, TokenId>(db, parameter('tokenIds'));
  return db
    .selectFrom('client_devices')
    .selectAll()
    .where('user_id', '=', parameter('userId'))
    .where((is) =>
      is.or([
        is('push_token_id', 'in', among()),
        is.and([
          is('pending_push_token_id', 'in', among()),
          is('pending_encrypted_registration', 'is not', null),
        ]),
      ]),
    )
    .orderBy('id')
    .modifyEnd(lockingRows(db));
});

/** Drops the active and pending tokens of locked devices whose phones have since registered in the older generation. */
export async function dropLockedTokens(
  { db }: PushTransaction,
  rows: readonly ClientDeviceRow[],
): Promise<Settled> {
  if (rows.length === 0) return { events: [], freed: [] };
  const ids = rows.map(({ id }) => id);
  await db
    .updateTable('client_devices')
    .set({ ...noToken, ...nothingPending })
    .where('id', 'in', ids)
    .execute();
  return {
    events: rows.map((row) => deviceUpdate(row, { push_token_id: null, pending_push_token_id: null })),
    freed: freedBy(rows),
  };
}

/**
 * Drops tokens that were last registered before `before`, unless the device has a pending token. Returns the effects.
 */
export async function dropUnrenewedTokens(
  { db }: PushTransaction,
  ids: readonly ClientDeviceId[],
  before: number,
): Promise<Settled> {
  const unrenewed = db
    .selectFrom('client_devices')
    .selectAll()
    .where('id', 'in', ids)
    .where('push_token_id', 'is not', null)
    .where('push_token_updated_at', '<', before)
    .where('pending_encrypted_registration', 'is', null)
    .orderBy('id')
    .modifyEnd(lockingRows(db));
  const rows = await unrenewed.execute();
  await dropTokens(db, rows);
  return {
    events: rows.map((row) => deviceUpdate(row, { push_token_id: null })),
    freed: rows.flatMap((row) => freedTokens(row, [row.push_token_id])),
  };
}
