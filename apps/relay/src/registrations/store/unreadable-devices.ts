import type { RelayDeviceId } from '@waxwing/protocol';
import type { RelayDatabase } from '../../tables.js';
import { beforeAllDevices, deviceColumns, hasReadableToken, toRelayDevice } from './relay-device.js';
import type { TokenVault } from './token-vault.js';

/** A device's row, with the encrypted token that could not be decrypted. */
export interface UnreadableRow {
  readonly id: RelayDeviceId;
  readonly token: string;
}

const rowsPerPage = 2000;
const rowsPerTransaction = 200;

/** Scans every device. Returns the devices that the key ring cannot open, and the number of scanned devices. */
export async function findUnreadableDevices(
  { db }: RelayDatabase,
  vault: TokenVault,
): Promise<{ readonly devices: readonly UnreadableRow[]; readonly looked: number }> {
  const devices: UnreadableRow[] = [];
  let looked = 0;
  for (let after = beforeAllDevices; ; ) {
    const rows = await db
      .selectFrom('relay_devices')
      .select(deviceColumns)
      .where('id', '>', after)
      .orderBy('id')
      .limit(rowsPerPage)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) return { devices, looked };
    looked += rows.length;
    for (const row of rows) {
      const device = toRelayDevice(row, vault);
      if (hasReadableToken(device) || device.unreadable.reason === 'UNKNOWN_TOKEN_KIND') continue;
      devices.push({ id: row.id, token: row.token });
    }
    after = last.id;
  }
}

/** Deletes the rows of `devices` whose tokens have not changed since the scan. Returns the number of deleted rows. */
export async function removeUnreadableDevices(
  database: RelayDatabase,
  devices: readonly UnreadableRow[],
): Promise<number> {
  let removed = 0;
  for (let start = 0; start < devices.length; start += rowsPerTransaction) {
    const some = devices.slice(start, start + rowsPerTransaction);
    const { numDeletedRows } = await database.write(({ db }) =>
      db
        .deleteFrom('relay_devices')
        .where((is) => is.or(some.map(({ id, token }) => is.and({ id, token }))))
        .executeTakeFirstOrThrow(),
    );
    removed += Number(numDeletedRows);
  }
  return removed;
}
