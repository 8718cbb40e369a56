import type { RelayDeviceId } from '@waxwing/protocol';
import type { Database, WriteTransaction } from '@waxwing/storage';
import type { Transaction } from 'kysely';
import type { RelayTables } from '../../tables.js';
import type { RegistrationOutcome } from '../opening/registration-batches.js';
import type { KeyUseCounts } from '../opening/registration-keys.js';
import { PresentedRegistrations } from './presented-registrations.js';
import { RegistrationSequences } from './registration-sequences.js';
import type { RegistrationToWrite, RegistrationWriter } from './registration-writer.js';
import { RelayDeviceUpsert } from './relay-device-upsert.js';

export interface TransactionWriterOptions {
  readonly database: Pick<Database<RelayTables>, 'db' | 'writeBatched'>;
  readonly keyUses: Pick<KeyUseCounts, 'used'>;
}

/** Implements {@link RegistrationWriter}: stores each batch in one commit, together with the key use counts. */
export class TransactionWriter implements RegistrationWriter {
  /** Always `false`, because writes run on the event loop. */
  readonly isIdle = false;
  readonly #options: TransactionWriterOptions;
  readonly #upsert: RelayDeviceUpsert;
  readonly #presented: PresentedRegistrations;
  readonly #sequences: RegistrationSequences;

  constructor(options: TransactionWriterOptions) {
    const { db } = options.database;
    this.#options = options;
    this.#upsert = new RelayDeviceUpsert(db);
    this.#presented = new PresentedRegistrations(db);
    this.#sequences = new RegistrationSequences(db);
  }

  async write(
    registrations: readonly RegistrationToWrite[],
    now: number,
  ): Promise<readonly RegistrationOutcome[]> {
    const presented = registrations.flatMap(({ row, mark }) =>
      mark === undefined ? [] : [{ realmId: row.realm_id, pushAccountId: row.push_account_id, ...mark }],
    );
    return this.#options.database.writeBatched(async (transaction) => {
      const claims = (await this.#presented.claim(transaction.db, presented)).values();
      const own = registrations.filter(({ mark }) => mark === undefined || claims.next().value === true);
      const inForce = await this.#sequences.claim(transaction.db, own, now);
      const kept = own.filter((each) => inForce.has(each));
      const ids = await this.#keep(transaction, kept, now);
      const outcomes = new Map<RegistrationToWrite, RegistrationOutcome>();
      for (const each of own) outcomes.set(each, 'superseded');
      for (const [index, each] of kept.entries()) outcomes.set(each, ids[index] as RelayDeviceId);
      return registrations.map((each) => outcomes.get(each) ?? 'presented-before');
    });
  }

  async #keep(
    transaction: WriteTransaction<RelayTables>,
    registrations: readonly RegistrationToWrite[],
    now: number,
  ): Promise<readonly RelayDeviceId[]> {
    for (const each of registrations)
      if (each.olderLookups.length > 0) await renewLookup(transaction.db, each);
    const rows = registrations.map(({ row }) => row);
    const ids = await this.#upsert.run(transaction.db, rows);
    const uses = new Map<string, number>();
    for (const { bouncerPublicKey: key } of registrations) uses.set(key, (uses.get(key) ?? 0) + 1);
    for (const [key, count] of uses) this.#options.keyUses.used(transaction, key, count, now);
    return ids;
  }
}

/**
 * Updates the lookup of a row that was written under an older lookup key, so that the upsert finds the row. If the device
 * has several rows, keeps the row of the current key, or else the latest row.
 */
async function renewLookup(
  db: Transaction<RelayTables>,
  { row, olderLookups }: RegistrationToWrite,
): Promise<void> {
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
