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

/** Error code in the event about a removed device. Makes the phone register again. */
export const deadRegistrationCode = 'NO_ACTIVE_PUSH_DEVICE';

/** A PushDevice with an active registration, which can receive notifications. */
export interface ActivePushDevice {
  readonly id: PushDeviceId;
  readonly pushAccountId: PushAccountIdText;
  readonly tokenKind: TokenKind;
  readonly pushPublicKey: string;
  readonly relayDeviceId: RelayDeviceId;
  readonly activeGeneration: number;
}

/** The user and push account of a changed device. */
export interface ChangedPushDevice {
  readonly userId: UserId;
  readonly pushAccountId: PushAccountIdText;
}

/** A relay device that a PushDevice no longer uses. */
export interface FreedRelayDevice {
  readonly relayDeviceId: RelayDeviceId;
  readonly pushAccountId: PushAccountIdText;
}

/** Returns the relay devices that these rows used. */
export function freedBy(
  rows: readonly Pick<PushDeviceRow, 'relay_device_id' | 'push_account_id'>[],
): FreedRelayDevice[] {
  return rows.flatMap(({ relay_device_id: relayDeviceId, push_account_id: pushAccountId }) =>
    relayDeviceId === null ? [] : [{ relayDeviceId, pushAccountId }],
  );
}

/** Returns `{status, error_code}` for each of a user's devices, keyed by decimal `push_account_id`, oldest first. */
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

/** Counts a user's active devices, and the user's devices with a pending registration. */
export async function countPushDevices(
  db: Reader,
  userId: UserId,
): Promise<{ readonly active: number; readonly pending: number }> {
  const rows = await db
    .selectFrom('push_devices')
    .select(['relay_device_id', 'pending_token_kind'])
    .where('user_id', '=', userId)
    .execute();
  return {
    active: rows.filter((row) => row.relay_device_id !== null).length,
    pending: rows.filter((row) => row.pending_token_kind !== null).length,
  };
}

/**
 * Reads a user's devices with an active registration, oldest first. With `pushAccountId`, reads only that account's
 * device.
 */
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
  }));
}

/** Column values for a device without an active registration. */
export const noActiveRegistration = {
  token_kind: null,
  push_public_key: null,
  relay_device_id: null,
  active_generation: null,
} as const;

/**
 * Drops an active registration that the relay no longer knows, and its row unless a newer registration is pending.
 * Returns `undefined` if no row was deleted: a registration is pending, or the device was registered again.
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
    .set(noActiveRegistration)
    .where('id', '=', id)
    .where('active_generation', '=', activeGeneration)
    .where('relay_device_id', '=', relayDeviceId)
    .execute();
  return undefined;
}

/** A selection of a user's devices. Without any field, it contains all of the user's devices. */
interface PushDeviceChoice {
  readonly pushAccountId?: PushAccountIdText;
  /** Only devices that these sign-ins registered. */
  readonly sessions?: readonly string[] | undefined;
}

/** Deletes a user's selected devices. Returns the relay devices that they used. */
export async function deletePushDevicesOf(
  transaction: PushTransaction,
  userId: UserId,
  { pushAccountId, sessions }: PushDeviceChoice = {},
): Promise<FreedRelayDevice[]> {
  const removed = await transaction.db
    .deleteFrom('push_devices')
    .where('user_id', '=', userId)
    .$if(pushAccountId !== undefined, (query) =>
      query.where('push_account_id', '=', pushAccountId as PushAccountIdText),
    )
    .$if(sessions !== undefined, (query) => query.where('session', 'in', sessions as string[]))
    .returning(['relay_device_id', 'push_account_id'])
    .execute();
  return freedBy(removed);
}

/** Freed relay devices, grouped by whether they may be removed. Devices that are in use again are in neither list. */
export interface SortedFreedDevices {
  /** Devices that no active or pending registration uses. */
  readonly free: readonly FreedRelayDevice[];
  /** Devices that a pending registration of the same push account may get again. */
  readonly undecided: readonly FreedRelayDevice[];
}

/**
 * Groups freed devices. Compares both the relay id and the push account, because after a restore one id can belong to
 * devices of two accounts.
 */
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

/**
 * Deletes up to `limit` devices that have no working registration, and whose last registration failed before `before`
 * (Unix milliseconds). Returns the number of deleted devices.
 */
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
    // Repeats the subquery's condition, because a new registration can replace the row between the two reads.
    .where('error_code', 'is not', null)
    .where('changed_at', '<', before)
    .returning('id')
    .execute();
  return deleted.length;
}
