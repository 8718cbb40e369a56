import type { RelayDeviceId } from '@waxwing/protocol';
import { fixedQuery, isPostgres, rowsAsTableOf, textsIn } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import type { RealmId } from '../../servers/server-tables.js';
import type { RelayTables } from '../../tables.js';
import type { TokenAddressee } from './addressee.js';
import { beforeAllDevices, type DeviceRow, deviceColumns } from './relay-device.js';
import { FoundRelayDevices } from './relay-device-store.js';
import type { TokenVault } from './token-vault.js';

/** Tokens of one realm, whose devices are of the newer generation. */
export interface TokensInRealm {
  readonly realmId: RealmId;
  readonly addressees: readonly TokenAddressee[];
}

const wantedColumns = { realm_id: 'integer', addressees: 'text' } as const;

const selected = sql.join(deviceColumns.map((column) => sql.ref(`device.${column}`)));

const devicesFor = fixedQuery<RelayTables, { readonly wanted: string }, DeviceRow>((db, parameter) => ({
  compile: () =>
    sql<DeviceRow>`
      select ${selected}
      from ${rowsAsTableOf(db, 'wanted', wantedColumns, parameter('wanted'))}
      cross join ${textsIn(db, 'wanted.addressees', 'addressee')}
      cross join ${devicesOf(db)}
      where device.realm_id = wanted.realm_id and device.push_account_id = addressee.value`.compile(db),
}));

/** The devices, so that one is looked up in the index for each wanted token, and all are never read. */
function devicesOf(db: Kysely<RelayTables>) {
  // SQLite keeps the order of a `cross join`. PostgreSQL expects 10,000 tokens, and would hash all devices for them.
  if (!isPostgres(db)) return sql`relay_devices as device`;
  return sql`lateral (
    select * from relay_devices
    where realm_id = wanted.realm_id and push_account_id = addressee.value offset 0
  ) as device`;
}

/** Devices found by realm and token, and their ids. */
export class FoundTokenDevices extends FoundRelayDevices {
  readonly #ids = new Map<string, RelayDeviceId>();

  constructor(rows: readonly DeviceRow[], vault: TokenVault) {
    super(rows, vault);
    for (const { id, realm_id, push_account_id } of rows) {
      // While token keys are replaced, a device may have two rows; the later one is current.
      const name = `${realm_id} ${push_account_id}`;
      if (id > (this.#ids.get(name) ?? beforeAllDevices)) this.#ids.set(name, id);
    }
  }

  /** Returns an id that no device has if the token is unknown in the realm. */
  idOf(realmId: RealmId, addressee: TokenAddressee): RelayDeviceId {
    return this.#ids.get(`${realmId} ${addressee}`) ?? beforeAllDevices;
  }
}

/** Looks up devices by realm and token in one query, however many there are. */
export async function findDevicesByToken(
  db: Kysely<RelayTables>,
  wanted: readonly TokensInRealm[],
  vault: TokenVault,
): Promise<FoundTokenDevices> {
  const rows = wanted.map(({ realmId, addressees }) => {
    return { realm_id: realmId, addressees: JSON.stringify(addressees) };
  });
  return new FoundTokenDevices(await devicesFor(db, { wanted: JSON.stringify(rows) }), vault);
}
