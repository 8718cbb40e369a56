import type {
  PushAccountIdText,
  PushDeviceStateOnWire,
  RelayDeviceId,
  TokenKind,
  UserId,
} from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import type { PushDeviceId, PushTransaction, ServerPushTables } from '../tables.js';
import { type PushDeviceRow, pushDeviceStatus } from './push-device-state.js';

type Reader = Kysely<ServerPushTables>;

/** A PushDevice that notifications can be sent to. */
export interface ActivePushDevice {
  readonly id: PushDeviceId;
  readonly pushAccountId: PushAccountIdText;
  readonly tokenKind: TokenKind;
  readonly pushPublicKey: string;
  readonly relayDeviceId: RelayDeviceId;
  readonly activeGeneration: number;
  readonly lastTestAt: number | null;
}

/** Whose device changed. */
export interface ChangedPushDevice {
  readonly userId: UserId;
  readonly pushAccountId: PushAccountIdText;
}

/** A device of the relay that a PushDevice had and has no more. */
export interface FreedRelayDevice {
  readonly relayDeviceId: RelayDeviceId;
  readonly pushAccountId: PushAccountIdText;
}

/** What these rows had at the relay. */
export function freedBy(
  rows: readonly Pick<PushDeviceRow, 'relay_device_id' | 'push_account_id'>[],
): FreedRelayDevice[] {
  return rows.flatMap(({ relay_device_id: relayDeviceId, push_account_id: pushAccountId }) =>
    relayDeviceId === null ? [] : [{ relayDeviceId, pushAccountId }],
  );
}

/** `push_devices` of the register answer: decimal `push_account_id` -> `{status, error_code}`. */
export async function pushDevicesOf(
  db: Reader,
  userId: UserId,
): Promise<Record<string, PushDeviceStateOnWire>> {
  const rows = await db
    .selectFrom('push_devices')
    .select(['push_account_id', 'error_code', 'pending_token_kind'])
    .where('user_id', '=', userId)
    .orderBy('id')
    .execute();
  return Object.fromEntries(
    rows.map((row) => [row.push_account_id, { status: pushDeviceStatus(row), error_code: row.error_code }]),
  );
}

/** The devices of a user that have a registration in force, oldest first; only `pushAccountId` where it is given. */
export async function activePushDevices(
  db: Reader,
  userId: UserId,
  pushAccountId?: PushAccountIdText,
): Promise<ActivePushDevice[]> {
  const rows = await db
    .selectFrom('push_devices')
    .selectAll()
    .where('user_id', '=', userId)
    .where('relay_device_id', 'is not', null)
    .$if(pushAccountId !== undefined, (query) =>
      query.where('push_account_id', '=', pushAccountId as PushAccountIdText),
    )
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    pushAccountId: row.push_account_id,
    tokenKind: row.token_kind as TokenKind,
    pushPublicKey: row.push_public_key as string,
    relayDeviceId: row.relay_device_id as RelayDeviceId,
    activeGeneration: row.active_generation as number,
    lastTestAt: row.last_test_at,
  }));
}

/**
 * Forgets a registration in force that the relay no longer knows. The row goes with it unless a newer registration is
 * pending. `undefined` when nothing was removed, because the device was registered again meanwhile or is pending.
 */
export async function dropDeadRegistration(
  transaction: PushTransaction,
  {
    id,
    activeGeneration,
    relayDeviceId,
  }: Pick<ActivePushDevice, 'id' | 'activeGeneration' | 'relayDeviceId'>,
): Promise<ChangedPushDevice | undefined> {
  const db = transaction.db;
  const removed = await db
    .deleteFrom('push_devices')
    .where('id', '=', id)
    .where('active_generation', '=', activeGeneration)
    .where('relay_device_id', '=', relayDeviceId)
    .where('pending_token_kind', 'is', null)
    .returning(['user_id as userId', 'push_account_id as pushAccountId'])
    .executeTakeFirst();
  if (removed !== undefined) return removed;
  await db
    .updateTable('push_devices')
    .set({ token_kind: null, push_public_key: null, relay_device_id: null, active_generation: null })
    .where('id', '=', id)
    .where('active_generation', '=', activeGeneration)
    .where('relay_device_id', '=', relayDeviceId)
    .execute();
  return undefined;
}

/** Deletes all devices of a user, or only `pushAccountId` where it is given; what they had at the relay. */
export async function deletePushDevicesOf(
  transaction: PushTransaction,
  userId: UserId,
  pushAccountId?: PushAccountIdText,
): Promise<FreedRelayDevice[]> {
  const removed = await transaction.db
    .deleteFrom('push_devices')
    .where('user_id', '=', userId)
    .$if(pushAccountId !== undefined, (query) =>
      query.where('push_account_id', '=', pushAccountId as PushAccountIdText),
    )
    .returning(['relay_device_id', 'push_account_id'])
    .execute();
  return freedBy(removed);
}

/** Freed devices of the relay, by what a removal may do with them. Those that are in use again are in neither. */
export interface SortedFreedDevices {
  /** No registration in force or pending uses them. */
  readonly free: readonly FreedRelayDevice[];
  /** A pending registration of the same push account may be given the same device. */
  readonly undecided: readonly FreedRelayDevice[];
}

/** A device is in use only for the same account: after a restore one id may stand for devices of two accounts. */
export async function sortFreedDevices(
  db: Reader,
  freed: readonly FreedRelayDevice[],
): Promise<SortedFreedDevices> {
  const rows = await db
    .selectFrom('push_devices')
    .select(['relay_device_id', 'push_account_id', 'pending_token_kind'])
    .where(
      'push_account_id',
      'in',
      freed.map(({ pushAccountId }) => pushAccountId),
    )
    .execute();
  const used = new Set(freedBy(rows).map(nameOf));
  const pending = new Set(
    rows.filter((row) => row.pending_token_kind !== null).map((row) => row.push_account_id),
  );
  const unused = freed.filter((device) => !used.has(nameOf(device)));
  return {
    free: unused.filter(({ pushAccountId }) => !pending.has(pushAccountId)),
    undecided: unused.filter(({ pushAccountId }) => pending.has(pushAccountId)),
  };
}

function nameOf({ relayDeviceId, pushAccountId }: FreedRelayDevice): string {
  return `${relayDeviceId} ${pushAccountId}`;
}

/** Deletes up to `limit` devices whose only registration failed before `before` (Unix milliseconds); how many they were. */
export async function deleteLongFailed(
  transaction: PushTransaction,
  before: number,
  limit: number,
): Promise<number> {
  const db = transaction.db;
  const failed = db
    .selectFrom('push_devices')
    .select('id')
    .where('error_code', 'is not', null)
    .where('changed_at', '<', before)
    .where('relay_device_id', 'is', null)
    .limit(limit);
  const deleted = await db
    .deleteFrom('push_devices')
    .where('id', 'in', failed)
    // Said again because a registration may take the row's place between the two.
    .where('error_code', 'is not', null)
    .where('changed_at', '<', before)
    .returning('id')
    .execute();
  return deleted.length;
}
