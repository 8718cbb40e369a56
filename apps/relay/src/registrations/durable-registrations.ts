import type { RelayDeviceId } from '@waxwing/protocol';
import { formatPushAccountId } from '@waxwing/protocol';
import type { WriteTransaction } from '@waxwing/storage';
import type { Transaction } from 'kysely';
import type { RelayDatabase, RelayTables } from '../tables.js';
import type { OpenedRegistration } from './open-registration.js';
import { PresentedRegistrations } from './presented-registrations.js';
import type { RegistrationRefusal, RegistrationStore } from './registration-batches.js';
import type { RegistrationKeys } from './registration-keys.js';
import { RegistrationSequences } from './registration-sequences.js';
import type { NewRelayDevice } from './relay-device.js';
import { type RelayDeviceRow, RelayDeviceUpsert } from './relay-device-upsert.js';
import { placeOfToken, type TokenVault } from './token-vault.js';

export interface DurableRegistrationsOptions {
  readonly database: RelayDatabase;
  readonly keyRing: Pick<RegistrationKeys, 'keyUsed'>;
  readonly tokenVault: TokenVault;
}

interface RowToSave {
  readonly row: RelayDeviceRow;
  readonly olderLookups: readonly string[];
}

/** {@link RegistrationStore} in the relay's database: one commit for all, with the count of each key's use. */
export class DurableRegistrations implements RegistrationStore {
  readonly #options: DurableRegistrationsOptions;
  readonly #upsert: RelayDeviceUpsert;
  readonly #presented: PresentedRegistrations;
  readonly #sequences: RegistrationSequences;

  constructor(options: DurableRegistrationsOptions) {
    this.#options = options;
    this.#upsert = new RelayDeviceUpsert(options.database.db);
    this.#presented = new PresentedRegistrations(options.database.db);
    this.#sequences = new RegistrationSequences(options.database.db);
  }

  async saveAll(
    registrations: readonly OpenedRegistration[],
    now: number,
  ): Promise<readonly (RelayDeviceId | RegistrationRefusal)[]> {
    const { database, tokenVault } = this.#options;
    // Literals that begin with a spread take microseconds for each property that follows; there are thousands a second.
    const toSave = registrations.map((each) => Object.assign(toRow(each.device, tokenVault), each));
    const presented = toSave.flatMap(({ device: { realmId }, row, mark }) =>
      mark === undefined ? [] : [{ realmId, pushAccountId: row.push_account_id, ...mark }],
    );
    return database.writeGathered(async (transaction) => {
      const claims = (await this.#presented.claim(transaction.db, presented)).values();
      const own = toSave.filter(({ mark }) => mark === undefined || claims.next().value === true);
      const inForce = await this.#sequences.claim(transaction.db, own, now);
      const kept = own.filter((each) => inForce.has(each));
      const ids = await this.#keep(transaction, kept, now);
      const outcomes = new Map<OpenedRegistration, RelayDeviceId | RegistrationRefusal>();
      for (const each of own) outcomes.set(each, 'superseded');
      for (const [index, each] of kept.entries()) outcomes.set(each, ids[index] as RelayDeviceId);
      return toSave.map((each) => outcomes.get(each) ?? 'presented-before');
    });
  }

  async #keep(
    transaction: WriteTransaction<RelayTables>,
    toSave: readonly (OpenedRegistration & RowToSave)[],
    now: number,
  ): Promise<readonly RelayDeviceId[]> {
    for (const each of toSave) if (each.olderLookups.length > 0) await renewLookup(transaction.db, each);
    const rows = toSave.map(({ row }) => row);
    const ids = await this.#upsert.run(transaction.db, rows);
    const uses = new Map<string, number>();
    for (const { bouncerPublicKey: key } of toSave) uses.set(key, (uses.get(key) ?? 0) + 1);
    for (const [key, count] of uses) this.#options.keyRing.keyUsed(transaction, key, count, now);
    return ids;
  }
}

/** The row of a device, its token sealed, and what else an older row of it may be found by. */
export function toRow(
  { realmId, pushAccountId, target, registeredAt }: NewRelayDevice,
  vault: TokenVault,
): RowToSave {
  const isApns = target.tokenKind === 'apns';
  const [lookup, ...olderLookups] = vault.lookups(target.token);
  const identity = {
    realm_id: realmId,
    push_account_id: formatPushAccountId(pushAccountId),
    token_lookup: lookup,
  };
  const row = Object.assign(identity, {
    token_kind: target.tokenKind,
    token: vault.seal(target.token, placeOfToken(identity)),
    ios_app_id: isApns ? target.iosAppId : null,
    apns_environment: isApns ? target.apnsEnvironment : null,
    registered_at: registeredAt,
    expired_at: null,
  });
  return { row, olderLookups };
}

/**
 * Makes a row that was written before the look-up key was replaced one that the upsert will recognise. Where the device
 * has several rows, the one of the current key stays, or else the latest.
 */
async function renewLookup(db: Transaction<RelayTables>, { row, olderLookups }: RowToSave): Promise<void> {
  const lookup = row.token_lookup;
  const found = await db
    .selectFrom('relay_devices')
    .select(['id', 'token_lookup'])
    .where('realm_id', '=', row.realm_id)
    .where('push_account_id', '=', row.push_account_id)
    .where('token_lookup', 'in', [lookup, ...olderLookups])
    .orderBy('id', 'desc')
    .execute();
  const kept = found.find(({ token_lookup }) => token_lookup === lookup) ?? found[0];
  if (kept === undefined) return;
  const others = found.filter((each) => each !== kept).map(({ id }) => id);
  if (others.length > 0) await db.deleteFrom('relay_devices').where('id', 'in', others).execute();
  if (kept.token_lookup === lookup) return;
  await db.updateTable('relay_devices').set({ token_lookup: lookup }).where('id', '=', kept.id).execute();
}
