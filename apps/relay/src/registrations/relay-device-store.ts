import type { ApnsEnvironment, RelayDeviceId } from '@waxwing/protocol';
import { amongNumbersOf, fixedQuery } from '@waxwing/storage';
import type { Kysely, Transaction } from 'kysely';
import type { RealmId } from '../servers/server-tables.js';
import type { RelayTables } from '../tables.js';
import { type DeviceRow, deviceColumns, type StoredRelayDevice, toRelayDevice } from './relay-device.js';
import type { TokenVault } from './token-vault.js';

export interface FindRelayDevices {
  readonly realmId: RealmId;
  readonly ids: readonly RelayDeviceId[];
  readonly vault: TokenVault;
}

const devicesWithIds = fixedQuery<RelayTables, { readonly ids: string }, DeviceRow>((db, parameter) =>
  db
    .selectFrom('relay_devices')
    .select(deviceColumns)
    .where('id', 'in', amongNumbersOf<RelayTables, RelayDeviceId>(db, parameter('ids'))),
);

type FoundDevices = Map<RelayDeviceId, StoredRelayDevice>;

/** The devices with these ids that belong to the realm, expired ones included; ids of other realms are left out. */
export async function findRelayDevices(
  db: Kysely<RelayTables>,
  wanted: FindRelayDevices,
): Promise<FoundDevices> {
  const [found] = await findForEach(db, [wanted]);
  return found ?? new Map();
}

/**
 * {@link findRelayDevices} for several realms and servers at once, by one query. Those who ask for the same realm share one
 * map of what any of them asked for.
 */
export async function findForEach(
  db: Kysely<RelayTables>,
  wanted: readonly FindRelayDevices[],
): Promise<FoundDevices[]> {
  const asked = new Set<RelayDeviceId>();
  for (const { ids } of wanted) for (const id of ids) asked.add(id);
  const rows = await devicesWithIds(db, { ids: JSON.stringify([...asked]) });
  const byId = new Map<RelayDeviceId, DeviceRow>();
  for (const row of rows) byId.set(row.id, row);
  const ofRealms = new Map<RealmId, FoundDevices>();
  return wanted.map(({ realmId, ids, vault }) => {
    const found = ofRealms.get(realmId) ?? new Map();
    ofRealms.set(realmId, found);
    for (const id of ids) {
      const row = byId.get(id);
      // Nobody's token is opened for another realm.
      if (row?.realm_id === realmId && !found.has(id)) found.set(id, toRelayDevice(row, vault));
    }
    return found;
  });
}

export interface Expiry {
  /** When the token was found dead, in Unix milliseconds. */
  readonly at: number;
  /** Only a device that last registered before this instant expires: a later registration proves that the token lives. */
  readonly ifRegisteredBefore: number;
}

/** Marks a device whose token the vendor calls dead. Whether that happened: not for one expired or registered since. */
export async function markExpired(
  db: Transaction<RelayTables>,
  id: RelayDeviceId,
  { at, ifRegisteredBefore }: Expiry,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('relay_devices')
    .set({ expired_at: at })
    .where('id', '=', id)
    .where('expired_at', 'is', null)
    .where('registered_at', '<', ifRegisteredBefore)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Deletes devices of a realm with their tokens; ids that are not its own change nothing. */
export async function deleteRelayDevices(
  db: Transaction<RelayTables>,
  realmId: RealmId,
  ids: readonly RelayDeviceId[],
): Promise<void> {
  await db.deleteFrom('relay_devices').where('realm_id', '=', realmId).where('id', 'in', ids).execute();
}

/** Deletes up to `limit` devices that expired before `before` (Unix milliseconds), oldest first; how many they were. */
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
    // Said again because a registration may revive a row between the two.
    .where('expired_at', '<', before)
    .returning('id')
    .execute();
  return deleted.length;
}

/** Remembers which of Apple's two systems knows the token. Whether that happened: only for an APNs device. */
export async function setApnsEnvironment(
  db: Transaction<RelayTables>,
  id: RelayDeviceId,
  environment: ApnsEnvironment,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('relay_devices')
    .set({ apns_environment: environment })
    .where('id', '=', id)
    .where('token_kind', '=', 'apns')
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}
