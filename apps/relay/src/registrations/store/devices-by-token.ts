import type { RelayDeviceId } from '@waxwing/protocol';
import { fixedQuery, isPostgres, rowsAsTableOf } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import type { RealmId } from '../../servers/server-tables.js';
import type { RelayTables } from '../../tables.js';
import type { TokenAddressee } from './addressee.js';
import { type KeyedNotification, rejectsReceived } from './ended-keys.js';
import { beforeAllDevices, type DeviceRow, deviceColumns } from './relay-device.js';
import { FoundRelayDevices } from './relay-device-store.js';
import type { TokenVault } from './token-vault.js';

/** A realm's token and one of its push keys: the address of a notification in the newer generation. */
export interface KeyOfToken {
  readonly realmId: RealmId;
  readonly addressee: TokenAddressee;
  readonly pushKeyId: number;
}

const wantedColumns = { realm_id: 'integer', addressee: 'text', push_key_id: 'integer' } as const;

/** A device with one of the requested keys. */
interface KeyedDeviceRow extends DeviceRow {
  readonly push_key_id: number;
  /** When the key ended, in Unix milliseconds; `null` if it has not ended. */
  readonly key_ended_at: number | null;
}

const selected = sql.join(deviceColumns.map((column) => sql.ref(`device.${column}`)));

const devicesFor = fixedQuery<RelayTables, { readonly wanted: string }, KeyedDeviceRow>((db, parameter) => ({
  compile: () =>
    sql<KeyedDeviceRow>`
      select ${selected}, wanted.push_key_id, (
        select ended_at from ended_keys
        where realm_id = wanted.realm_id and push_account_id = wanted.addressee and push_key_id = wanted.push_key_id
      ) as key_ended_at
      from ${rowsAsTableOf(db, 'wanted', wantedColumns, parameter('wanted'))}
      cross join ${devicesOf(db)}
      where device.realm_id = wanted.realm_id and device.push_account_id = wanted.addressee`.compile(db),
}));

/** Returns a table expression that reads devices with one index lookup per requested token, never with a full scan. */
function devicesOf(db: Kysely<RelayTables>) {
  // SQLite keeps the order of a `cross join`. PostgreSQL estimates 10,000 tokens and would hash all devices, so a
  // lateral subquery makes it use the index for each token.
  if (!isPostgres(db)) return sql`relay_devices as device`;
  return sql`lateral (
    select * from relay_devices
    where realm_id = wanted.realm_id and push_account_id = wanted.addressee offset 0
  ) as device`;
}

/** Devices found by realm and token. Also records which of the requested keys have ended. */
export class FoundTokenDevices extends FoundRelayDevices {
  readonly #ids = new Map<string, RelayDeviceId>();
  /** When keys ended, in Unix milliseconds. Usually empty. */
  readonly #endedKeys = new Map<string, number>();

  constructor(rows: readonly KeyedDeviceRow[], vault: TokenVault) {
    super(rows, vault);
    for (const { id, realm_id, push_account_id, push_key_id, key_ended_at } of rows) {
      // While token keys are being rotated, a device may have two rows. The later row is current.
      const name = `${realm_id} ${push_account_id}`;
      if (id > (this.#ids.get(name) ?? beforeAllDevices)) this.#ids.set(name, id);
      if (key_ended_at !== null) this.#endedKeys.set(`${name} ${push_key_id}`, key_ended_at);
    }
  }

  /** Returns the device id of a token. Returns an id that no device has if the token is unknown in the realm. */
  idOf(realmId: RealmId, addressee: TokenAddressee): RelayDeviceId {
    return this.#ids.get(`${realmId} ${addressee}`) ?? beforeAllDevices;
  }

  /**
   * Whether a notification's key ended after the relay received the notification, or at most a minute earlier. The key
   * must be one of the requested keys.
   */
  hasEndedKey({ realmId, addressee, pushKeyId, receivedAt }: KeyedNotification): boolean {
    if (this.#endedKeys.size === 0) return false;
    const endedAt = this.#endedKeys.get(`${realmId} ${addressee} ${pushKeyId}`);
    return endedAt !== undefined && rejectsReceived(endedAt, receivedAt);
  }
}

/**
 * Looks up devices by realm and token, and the times when the requested keys ended. Runs one query for any number of
 * tokens.
 */
export async function findDevicesByToken(
  db: Kysely<RelayTables>,
  wanted: readonly KeyOfToken[],
  vault: TokenVault,
): Promise<FoundTokenDevices> {
  const rows = wanted.map(({ realmId, addressee, pushKeyId }) => {
    return { realm_id: realmId, addressee, push_key_id: pushKeyId };
  });
  return new FoundTokenDevices(await devicesFor(db, { wanted: JSON.stringify(rows) }), vault);
}
