import type { ApnsEnvironment, RelayDeviceId } from '@waxwing/protocol';
import { amongNumbersOf, fixedQuery, removeInPages } from '@waxwing/storage';
import type { Kysely, Transaction } from 'kysely';
import type { RealmId } from '../../servers/server-tables.js';
import type { RelayDatabase, RelayTables } from '../../tables.js';
import { type Addressee, pushAccountOf } from './addressee.js';
import {
  type DeviceRow,
  deviceColumns,
  type RelayDeviceName,
  type StoredRelayDevice,
  toRelayDevice,
} from './relay-device.js';
import type { TokenVault } from './token-vault.js';

const devicesWithIds = fixedQuery<RelayTables, { readonly ids: string }, DeviceRow>((db, parameter) =>
  db
    .selectFrom('relay_devices')
    .select(deviceColumns)
    .where('id', 'in', amongNumbersOf<RelayTables, RelayDeviceId>(db, parameter('ids'))),
);

/** Devices that were found by id, in any realm. Decrypts a token only if the realm and addressee also match. */
export class FoundRelayDevices {
  readonly #rows = new Map<RelayDeviceId, DeviceRow>();
  readonly #opened = new Map<RelayDeviceId, StoredRelayDevice>();
  readonly #vault: TokenVault;

  constructor(rows: readonly DeviceRow[], vault: TokenVault) {
    for (const row of rows) this.#rows.set(row.id, row);
    this.#vault = vault;
  }

  /**
   * Returns the device, even if it has expired. Returns `undefined` if the id is unknown, or belongs to another realm
   * or account.
   */
  find({ realmId, relayDeviceId: id, addressee }: RelayDeviceName): StoredRelayDevice | undefined {
    const row = this.#rows.get(id);
    if (row === undefined || row.realm_id !== realmId || row.push_account_id !== addressee) return undefined;
    const known = this.#opened.get(id);
    if (known !== undefined) return known;
    const device = toRelayDevice(row, this.#vault);
    this.#opened.set(id, device);
    return device;
  }
}

/** Looks up devices by id, in one query for any number of ids. */
export async function findRelayDevices(
  db: Kysely<RelayTables>,
  ids: readonly RelayDeviceId[],
  vault: TokenVault,
): Promise<FoundRelayDevices> {
  const rows = await devicesWithIds(db, { ids: JSON.stringify([...new Set(ids)]) });
  return new FoundRelayDevices(rows, vault);
}

export interface Expiry {
  /** When the token was found to be dead, in Unix milliseconds. */
  readonly at: number;
  /**
   * Time limit in Unix milliseconds: a device that registered at or after it does not expire, because its token works.
   */
  readonly ifRegisteredBefore: number;
}

/**
 * Marks a device as expired because the vendor reports its token as dead. Returns `false` if the device has already
 * expired or has registered again.
 */
export async function markExpired(
  db: Transaction<RelayTables>,
  { realmId, relayDeviceId, addressee }: RelayDeviceName,
  { at, ifRegisteredBefore }: Expiry,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('relay_devices')
    .set({ expired_at: at })
    .where('id', '=', relayDeviceId)
    .where('realm_id', '=', realmId)
    .where('push_account_id', '=', addressee)
    .where('expired_at', 'is', null)
    .where('registered_at', '<', ifRegisteredBefore)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** A device to delete: by its id, by its addressee, or by both. */
export type NamedForDeletion =
  | { readonly id: RelayDeviceId; readonly addressee: Addressee | undefined }
  | { readonly id?: never; readonly addressee: Addressee };

/** Deletes devices of a realm with their tokens. Skips ids of other realms, and ids with a different addressee. */
export async function deleteRelayDevices(
  db: Transaction<RelayTables>,
  realmId: RealmId,
  devices: readonly NamedForDeletion[],
): Promise<void> {
  if (devices.length === 0) return;
  await db
    .deleteFrom('relay_devices')
    .where('realm_id', '=', realmId)
    .where((is) =>
      is.or(
        devices.map(({ id, addressee }) =>
          is.and({
            ...(id !== undefined && { id }),
            ...(addressee !== undefined && { push_account_id: addressee }),
          }),
        ),
      ),
    )
    .execute();
}

/**
 * Deletes up to `limit` devices that expired before `before` (Unix milliseconds), oldest first. Returns the number of
 * deleted devices.
 */
export async function deleteLongExpired(
  db: Transaction<RelayTables>,
  before: number,
  limit: number,
): Promise<number> {
  const expired = db
    .selectFrom('relay_devices')
    .select('id')
    .where('expired_at', '<', before)
    .orderBy('expired_at')
    .limit(limit);
  const deleted = await db
    .deleteFrom('relay_devices')
    .where('id', 'in', expired)
    // Repeats the subquery's condition: a registration may revive a row between the two reads.
    .where('expired_at', '<', before)
    .returning('id')
    .execute();
  return deleted.length;
}

/**
 * Deletes devices that last registered before `before` (Unix milliseconds): their servers have removed or lost them.
 * Keeps devices of the newer generation and devices without encryption, because their servers do not forward further
 * registrations of the same token. Returns the number of deleted devices.
 */
export async function deleteUnrenewed(
  database: RelayDatabase,
  before: number,
  signal: AbortSignal,
): Promise<number> {
  const read = (after: number, limit: number) =>
    database.db
      .selectFrom('relay_devices')
      .select(['id', 'push_account_id', 'registered_at'])
      .where('id', '>', after as RelayDeviceId)
      .orderBy('id')
      .limit(limit)
      .execute();
  const remove = async (rows: Awaited<ReturnType<typeof read>>) => {
    const ids = rows.flatMap(({ id, push_account_id: addressee, registered_at }) =>
      registered_at < before && (addressee === null || pushAccountOf(addressee) !== undefined) ? [id] : [],
    );
    if (ids.length === 0) return 0;
    const { numDeletedRows } = await database.write(({ db }) =>
      db
        .deleteFrom('relay_devices')
        .where('id', 'in', ids)
        // Repeats the condition of the read: a device may register before the delete.
        .where('registered_at', '<', before)
        .executeTakeFirstOrThrow(),
    );
    return Number(numDeletedRows);
  };
  return removeInPages({ read, remove }, signal);
}

/** Stores which of Apple's two environments accepts the token. Returns `false` if it is not an APNs device. */
export async function setApnsEnvironment(
  db: Transaction<RelayTables>,
  { realmId, relayDeviceId, addressee }: RelayDeviceName,
  environment: ApnsEnvironment,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('relay_devices')
    .set({ apns_environment: environment })
    .where('id', '=', relayDeviceId)
    .where('realm_id', '=', realmId)
    .where('push_account_id', '=', addressee)
    .where('token_kind', '=', 'apns')
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}
