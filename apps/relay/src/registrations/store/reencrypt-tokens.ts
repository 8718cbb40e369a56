import type { RelayDeviceId } from '@waxwing/protocol';
import type { Kysely, Transaction } from 'kysely';
import type { RelayDatabase, RelayTables } from '../../tables.js';
import { beforeAllDevices } from './relay-device.js';
import { bindingOfToken, type TokenRow, type TokenVault, type UnreadableToken } from './token-vault.js';

/** The key that encrypts new tokens. */
interface CurrentTokenKey {
  readonly id: string;
  /** Prefix of every token sealed with this key. */
  readonly prefix: string;
  /** Whether all relays have used this key for so long that no relay still writes rows with an older key. */
  readonly isSettled: boolean;
}

/** The part of the key ring that re-encryption needs. */
interface ReplaceableTokenKeys {
  readonly tokenVault: TokenVault & {
    /** Returns the current key, or `undefined` if the ring has only one key and no row needs re-encryption. */
    keyToMoveTo(): CurrentTokenKey | undefined;
  };
  /** Destroys keys that are older than `keyId`. Called when no row needs them anymore. */
  concludeTokenMove(keyId: string): Promise<void>;
}

export interface ReencryptTokensOptions {
  readonly database: RelayDatabase;
  readonly keyRing: ReplaceableTokenKeys;
  readonly signal: AbortSignal;
  /** Called for each unreadable row, which stays unchanged. Called again if the row's transaction is retried. */
  onUnreadable(deviceId: RelayDeviceId, token: UnreadableToken): void;
}

const rowsPerPage = 2000;
const rowsPerTransaction = 200;

/**
 * Re-encrypts the tokens of older keys with the current key, then destroys the older keys. Skips tokens that no key of
 * the ring decrypts.
 */
export async function reencryptTokens(options: ReencryptTokensOptions): Promise<void> {
  const { database, keyRing, signal } = options;
  const { tokenVault } = keyRing;
  const key = tokenVault.keyToMoveTo();
  if (key === undefined) return;
  for (let after = beforeAllDevices; ; ) {
    if (signal.aborted) return;
    const last = await lastOfPage(database.db, after);
    if (last === undefined) break;
    const rows = await database.db
      .selectFrom('relay_devices')
      .select(['id', 'realm_id', 'push_account_id', 'token_lookup', 'token'])
      .where('id', '>', after)
      .where('id', '<=', last)
      .where('token', 'not like', `${key.prefix}%`)
      .execute();
    for (let start = 0; start < rows.length; start += rowsPerTransaction) {
      const some = rows.slice(start, start + rowsPerTransaction);
      await database.write(async ({ db }) => {
        for (const row of some) await reencryptRow(db, row, options);
      });
    }
    after = last;
  }
  // If this key was not settled at the start, other relays may have written rows with an older key during the scan.
  if (key.isSettled) await keyRing.concludeTokenMove(key.id);
}

/**
 * Returns the last id of the next page. Reading all rows in one query would block other work, although most rows need
 * no change.
 */
async function lastOfPage(db: Kysely<RelayTables>, after: RelayDeviceId): Promise<RelayDeviceId | undefined> {
  const { last } = await db
    .selectFrom((from) =>
      from
        .selectFrom('relay_devices')
        .select('id')
        .where('id', '>', after)
        .orderBy('id')
        .limit(rowsPerPage)
        .as('page'),
    )
    .select((is) => is.fn.max<RelayDeviceId | null>('id').as('last'))
    .executeTakeFirstOrThrow();
  return last ?? undefined;
}

interface StaleRow extends TokenRow {
  readonly id: RelayDeviceId;
  readonly token: string;
}

async function reencryptRow(
  db: Transaction<RelayTables>,
  row: StaleRow,
  { keyRing: { tokenVault: vault }, onUnreadable }: ReencryptTokensOptions,
): Promise<void> {
  const token = vault.open(row.token, bindingOfToken(row));
  if (typeof token !== 'string') return onUnreadable(row.id, token);
  const [lookup] = vault.lookups(token);
  // The device may have registered again, in a separate row. Keep that row and delete this one.
  await db
    .deleteFrom('relay_devices')
    .where('id', '=', row.id)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('relay_devices as newer')
          .select('newer.id')
          .where('newer.realm_id', '=', row.realm_id)
          .where('newer.push_account_id', '=', row.push_account_id)
          .where('newer.token_lookup', '=', lookup)
          .where('newer.id', '!=', row.id),
      ),
    )
    .execute();
  await db
    .updateTable('relay_devices')
    .set({ token: vault.seal(token, bindingOfToken({ ...row, token_lookup: lookup })), token_lookup: lookup })
    .where('id', '=', row.id)
    .where('token', '=', row.token)
    .execute();
}
