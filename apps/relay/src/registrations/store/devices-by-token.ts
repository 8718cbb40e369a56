import type { RelayDeviceId, TokenId } from '@waxwing/protocol';
import { amongTextsOf, fixedQuery } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { RealmId } from '../../servers/server-tables.js';
import type { RelayTables } from '../../tables.js';
import { type Addressee, addresseeOfToken, tokenIdOf } from './addressee.js';

interface Wanted {
  readonly realm: RealmId;
  /** JSON array of addressees. */
  readonly addressees: string;
}

interface Found {
  readonly id: RelayDeviceId;
  readonly push_account_id: Addressee | null;
}

const devicesOf = fixedQuery<RelayTables, Wanted, Found>((db, parameter) =>
  db
    .selectFrom('relay_devices')
    .select(['id', 'push_account_id'])
    .where('realm_id', '=', parameter('realm'))
    .where('push_account_id', 'in', amongTextsOf<RelayTables, Addressee>(db, parameter('addressees')))
    .orderBy('id'),
);

/** Looks up the devices of a realm that are registered by these tokens' ids, in one query. Omits unknown ones. */
export async function findDevicesByToken(
  db: Kysely<RelayTables>,
  realm: RealmId,
  tokenIds: readonly TokenId[],
): Promise<ReadonlyMap<TokenId, RelayDeviceId>> {
  const found = new Map<TokenId, RelayDeviceId>();
  if (tokenIds.length === 0) return found;
  const addressees = JSON.stringify([...new Set(tokenIds)].map(addresseeOfToken));
  for (const { id, push_account_id } of await devicesOf(db, { realm, addressees })) {
    const tokenId = push_account_id === null ? undefined : tokenIdOf(push_account_id);
    if (tokenId !== undefined) found.set(tokenId, id);
  }
  return found;
}
