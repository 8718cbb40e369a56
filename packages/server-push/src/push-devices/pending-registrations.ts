import type { RelayDeviceId, TokenKind } from '@waxwing/protocol';
import { amongNumbersOf, fixedQuery, lockingRows } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import type { PushDeviceId, PushTransaction, ServerPushTables } from '../tables.js';
import type { PushDeviceRow } from './push-device-state.js';
import { type ChangedPushDevice, type FreedRelayDevice, freedBy } from './push-device-store.js';

type Reader = Kysely<ServerPushTables>;

/** The identity of one registration of one PushDevice. */
export interface RegistrationKey {
  readonly id: PushDeviceId;
  readonly generation: number;
}

/** A registration that has become active, and the relay device that the previous registration used. */
export interface ActivatedPushDevice extends ChangedPushDevice {
  readonly freed: readonly FreedRelayDevice[];
}

const nonePending = {
  pending_token_kind: null,
  pending_push_public_key: null,
  pending_bouncer_public_key: null,
  pending_encrypted_registration: null,
} as const;

/**
 * Reads pending registrations, in the order of `keys`. Returns `undefined` for each that was replaced, settled or
 * removed.
 */
export async function pendingRegistrations(
  db: Reader,
  keys: readonly RegistrationKey[],
): Promise<(PushDeviceRow | undefined)[]> {
  const rows = await pendingAmong(db, { ids: JSON.stringify(keys.map(({ id }) => id)) });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return keys.map(({ id, generation }) => {
    const row = byId.get(id);
    return row?.generation === generation ? row : undefined;
  });
}

const pendingAmong = fixedQuery<ServerPushTables, { readonly ids: string }, PushDeviceRow>((db, parameter) =>
  db
    .selectFrom('push_devices')
    .selectAll()
    .where('id', 'in', amongNumbersOf<ServerPushTables, PushDeviceId>(db, parameter('ids')))
    .where('pending_token_kind', 'is not', null),
);

/** Activates a pending registration. Returns `undefined` if the registration is no longer pending. */
export async function activateRegistration(
  transaction: PushTransaction,
  key: RegistrationKey,
  relayDeviceId: RelayDeviceId,
  now: number,
): Promise<ActivatedPushDevice | undefined> {
  const former = await formerDevice(transaction.db, key);
  const [changed] = await putInForce(transaction.db, { ...key, relayDeviceId, now });
  const freed = freedBy(former).filter((device) => device.relayDeviceId !== relayDeviceId);
  return changed && { ...changed, freed };
}

/**
 * Reads the device and, on PostgreSQL, locks its row. Without the lock, a concurrent transaction could change the row
 * before the next statement.
 */
const formerDevice = fixedQuery<
  ServerPushTables,
  RegistrationKey,
  Pick<PushDeviceRow, 'relay_device_id' | 'push_account_id'>
>((db, parameter) =>
  db
    .selectFrom('push_devices')
    .select(['relay_device_id', 'push_account_id'])
    .where('id', '=', parameter('id'))
    .where('generation', '=', parameter('generation'))
    .modifyEnd(lockingRows(db)),
);

interface InForce extends RegistrationKey {
  readonly relayDeviceId: RelayDeviceId;
  readonly now: number;
}

const putInForce = fixedQuery<ServerPushTables, InForce, ChangedPushDevice>((db, parameter) =>
  settling(db, {
    token_kind: sql<TokenKind>`pending_token_kind`,
    push_public_key: sql<string>`pending_push_public_key`,
    relay_device_id: parameter('relayDeviceId'),
    active_generation: parameter('generation'),
    changed_at: parameter('now'),
  })
    .where('id', '=', parameter('id'))
    .where('generation', '=', parameter('generation')),
);

/** Marks a pending registration as failed. Returns `undefined` if the registration is no longer pending. */
export async function failRegistration(
  transaction: PushTransaction,
  key: RegistrationKey,
  errorCode: string,
  now: number,
): Promise<ChangedPushDevice | undefined> {
  return settling(transaction.db, { error_code: errorCode, changed_at: now })
    .where('id', '=', key.id)
    .where('generation', '=', key.generation)
    .executeTakeFirst();
}

/**
 * Marks up to `limit` pending registrations that were accepted before `before` (Unix milliseconds) as failed. Returns
 * their users and accounts.
 */
export async function failLongPending(
  transaction: PushTransaction,
  { before, limit, errorCode, now }: { before: number; limit: number; errorCode: string; now: number },
): Promise<ChangedPushDevice[]> {
  const db = transaction.db;
  const waiting = db
    .selectFrom('push_devices')
    .select('id')
    .where('pending_token_kind', 'is not', null)
    .where('changed_at', '<', before)
    .limit(limit);
  return (
    db
      .updateTable('push_devices')
      .set({ error_code: errorCode, changed_at: now, ...nonePending })
      .where('id', 'in', waiting)
      // Repeats the subquery's condition, because a new registration can replace the row between the two reads.
      .where('pending_token_kind', 'is not', null)
      .where('changed_at', '<', before)
      .returning(['user_id as userId', 'push_account_id as pushAccountId'])
      .execute()
  );
}

function settling(db: Reader, change: object) {
  return db
    .updateTable('push_devices')
    .set({ ...change, ...nonePending })
    .where('pending_token_kind', 'is not', null)
    .returning(['user_id as userId', 'push_account_id as pushAccountId']);
}
