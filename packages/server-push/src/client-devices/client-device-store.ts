import {
  type ClientDeviceId,
  type ClientDeviceOnWire,
  maximumPushDevicesPerUser,
  type TokenId,
  type UserId,
} from '@waxwing/protocol';
import { lockExclusive } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { PushActor } from '../server-push-options.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { type ClientDeviceRow, clientDeviceOnWire, type OwnedDevice } from './client-device-state.js';
import { invalidDevice } from './device-refusals.js';
import { freeableColumns } from './freed-tokens.js';

type Reader = Kysely<ServerPushTables>;

/** Returns the states of a user's devices by decimal device id, oldest first. */
export async function clientDevicesOf(
  db: Reader,
  userId: UserId,
): Promise<Record<string, ClientDeviceOnWire>> {
  const rows = await db
    .selectFrom('client_devices')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('id')
    .execute();
  return Object.fromEntries(rows.map((row) => [row.id, clientDeviceOnWire(row)]));
}

/** Checks that the user has this device. @throws ProtocolError BAD_REQUEST if not. */
export async function requireDevice(db: Reader, userId: UserId, deviceId: ClientDeviceId): Promise<void> {
  const device = await db
    .selectFrom('client_devices')
    .select('id')
    .where('id', '=', deviceId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (device === undefined) throw invalidDevice();
}

/** A device that can receive notifications. */
export interface ActiveClientDevice {
  readonly id: ClientDeviceId;
  readonly user_id: UserId;
  readonly push_key_id: NonNullable<ClientDeviceRow['push_key_id']>;
  readonly push_key: string;
  readonly push_token_id: TokenId;
  readonly push_token_kind: string | null;
  readonly active_generation: number | null;
  readonly former_push_keys: string | null;
}

/** Reads a user's devices with a key and an active token, oldest first. With `deviceId`, reads only that device. */
export async function activeClientDevices(
  db: Reader,
  userId: UserId,
  deviceId?: ClientDeviceId,
): Promise<ActiveClientDevice[]> {
  return db
    .selectFrom('client_devices')
    .select(['id', 'user_id', 'push_key_id', 'push_key', 'push_token_id', 'push_token_kind'])
    .select(['active_generation', 'former_push_keys'])
    .where('user_id', '=', userId)
    .where('push_token_id', 'is not', null)
    .where('push_key', 'is not', null)
    .$if(deviceId !== undefined, (query) => query.where('id', '=', deviceId as ClientDeviceId))
    .orderBy('id')
    .$narrowType<Pick<ActiveClientDevice, 'push_key_id' | 'push_key' | 'push_token_id'>>()
    .execute();
}

/** Counts a user's devices with an active token, and the user's devices with a pending registration. */
export async function countClientDevices(
  db: Reader,
  userId: UserId,
): Promise<{ readonly active: number; readonly pending: number }> {
  const rows = await db
    .selectFrom('client_devices')
    .select(['push_token_id', 'pending_encrypted_registration'])
    .where('user_id', '=', userId)
    .execute();
  return {
    active: rows.filter((row) => row.push_token_id !== null).length,
    pending: rows.filter((row) => row.pending_encrypted_registration !== null).length,
  };
}

const deletedColumns = ['id', 'user_id', 'former_relay_devices', ...freeableColumns] as const;

/** A device that was deleted. */
export type DeletedDevice = Pick<ClientDeviceRow, (typeof deletedColumns)[number]>;

/** The owner of a device, and the sign-in that creates it. */
type DeviceOwner = Pick<PushActor, 'userId'> & { readonly session?: string | null | undefined };

/** The result of {@link createClientDevice}. */
export interface CreatedDevice {
  readonly device: OwnedDevice;
  /** Devices that were deleted to make room for the new device. */
  readonly dropped: readonly DeletedDevice[];
}

/**
 * Creates a device. If the user already has the maximum number of devices, deletes the device without a token that has
 * been unused the longest. Returns `undefined` if all devices have a token.
 */
export async function createClientDevice(
  { db }: PushTransaction,
  { userId, session = null }: DeviceOwner,
  now: number,
): Promise<CreatedDevice | undefined> {
  await lockExclusive(db, `client devices of user ${userId}`);
  const { devices } = await db
    .selectFrom('client_devices')
    .select(({ fn }) => fn.countAll().as('devices'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  const surplus = Number(devices) - maximumPushDevicesPerUser + 1;
  const dropped = surplus > 0 ? await deleteLongestUnused(db, userId) : [];
  if (surplus > 0 && dropped.length === 0) return undefined;
  const device = await db
    .insertInto('client_devices')
    .values({ user_id: userId, created_at: now, used_at: now, generation: 0, session })
    .returning(['id', 'user_id'])
    .executeTakeFirstOrThrow();
  return { device, dropped };
}

async function deleteLongestUnused(db: PushTransaction['db'], userId: UserId): Promise<DeletedDevice[]> {
  const longestUnused = db
    .selectFrom('client_devices')
    .select('id')
    .where('user_id', '=', userId)
    .where('push_token_id', 'is', null)
    .where('pending_encrypted_registration', 'is', null)
    .orderBy('used_at')
    .orderBy('id')
    .limit(1);
  return (
    db
      .deleteFrom('client_devices')
      .where('id', 'in', longestUnused)
      // Repeats the subquery's condition, because a phone can register between the two reads.
      .where('push_token_id', 'is', null)
      .where('pending_encrypted_registration', 'is', null)
      .returning(deletedColumns)
      .execute()
  );
}

/** A selection of a user's devices. Without any field, it contains all of the user's devices. */
export interface DeviceChoice {
  readonly deviceId?: ClientDeviceId;
  /** Only devices that these sign-ins registered. */
  readonly sessions?: readonly string[] | undefined;
}

/** Deletes a user's selected devices and returns them. */
export async function deleteClientDevicesOf(
  { db }: PushTransaction,
  userId: UserId,
  { deviceId, sessions }: DeviceChoice = {},
): Promise<DeletedDevice[]> {
  return db
    .deleteFrom('client_devices')
    .where('user_id', '=', userId)
    .$if(deviceId !== undefined, (query) => query.where('id', '=', deviceId as ClientDeviceId))
    .$if(sessions !== undefined, (query) => query.where('session', 'in', sessions as string[]))
    .returning(deletedColumns)
    .execute();
}
