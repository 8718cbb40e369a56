import { BulkInsert, namesOf } from '@waxwing/storage';
import { type Compilable, type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { RealmId } from '../../servers/server-tables.js';
import type { RelayDatabase, RelayTables } from '../../tables.js';
import type { SealedRegistrationMark } from '../opening/open-registration.js';
import type { Addressee } from '../store/addressee.js';

/** The realm and account for which a sealed registration was presented. */
interface PresentedFor {
  readonly realmId: RealmId;
  readonly pushAccountId: Addressee;
}

export type PresentedRegistration = SealedRegistrationMark & PresentedFor;

interface PresentedRow {
  readonly hash: string;
  readonly realm_id: RealmId;
  /** Addressees, each between two commas. */
  readonly push_account_ids: string;
}

/** A phone may have several accounts in a realm, and a client may use one registration for several of them. */
const maximumAccountsPerRegistration = 10;

const columns = {
  forget_at: 'integer',
  hash: 'text',
  realm_id: 'integer',
  push_account_ids: 'text',
} as const;

const forgottenPerTransaction = 1000;

/**
 * Replay protection for sealed registrations. Records which realm first presented a registration, so that a server
 * cannot reuse it in another realm. Also records the push accounts, so that one registration cannot fill the relay with
 * devices. Compiles its statements once per database.
 */
export class PresentedRegistrations {
  readonly #claim: BulkInsert<PresentedRow>;

  constructor(db: Kysely<RelayTables>) {
    this.#claim = new BulkInsert(db, columns, (rows) => presentedInsertion(db, rows));
  }

  /**
   * Records the registrations. Returns for each registration, in order, whether it may be stored: if no other realm
   * presented its sealed bytes before, and its account is among the first {@link maximumAccountsPerRegistration}.
   */
  async claim(
    db: Transaction<RelayTables>,
    presented: readonly PresentedRegistration[],
  ): Promise<readonly boolean[]> {
    const rows = new Map<string, PresentedRow>();
    let waiting = presented;
    while (waiting.length > 0) {
      const round = new Map<string, PresentedRegistration>();
      for (const each of waiting) if (!round.has(each.hash)) round.set(each.hash, each);
      // Sorted, because without a fixed lock order two transactions could deadlock.
      const sorted = [...round.values()].sort((left, right) => (left.hash < right.hash ? -1 : 1));
      const values = sorted.map((each) => [each.forgetAt, each.hash, each.realmId, listed(each)]);
      for (const row of await this.#claim.run(db, values)) rows.set(row.hash, row);
      waiting = waiting.filter((each) => {
        const row = rows.get(each.hash);
        return row !== undefined && !isKept(row, each) && hasRoomFor(row, each);
      });
    }
    return presented.map((each) => {
      const row = rows.get(each.hash);
      return row !== undefined && isKept(row, each);
    });
  }
}

function listed({ pushAccountId }: PresentedFor): string {
  return `,${pushAccountId},`;
}

function isKept(row: PresentedRow, each: PresentedFor): boolean {
  return row.realm_id === each.realmId && row.push_account_ids.includes(listed(each));
}

function hasRoomFor({ realm_id, push_account_ids: ids }: PresentedRow, { realmId }: PresentedFor): boolean {
  return realm_id === realmId && ids.split(',').length <= 2 * maximumAccountsPerRegistration;
}

/**
 * Deletes records that have expired at `now` (Unix milliseconds), in small transactions. Returns the number of deleted
 * records.
 */
export async function forgetPresentedRegistrations(
  database: RelayDatabase,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  let forgotten = 0;
  let through: number | undefined;
  do {
    const last = await database.db
      .selectFrom('presented_registrations')
      .select('forget_at')
      .where('forget_at', '<=', now)
      .orderBy('forget_at')
      .offset(forgottenPerTransaction)
      .limit(1)
      .executeTakeFirst();
    through = last?.forget_at;
    const until = through ?? now;
    const { numDeletedRows } = await database.write(({ db }) =>
      db.deleteFrom('presented_registrations').where('forget_at', '<=', until).executeTakeFirstOrThrow(),
    );
    forgotten += Number(numDeletedRows);
  } while (through !== undefined && !signal.aborted);
  return forgotten;
}

/**
 * Inserts rows of `forget_at`, `hash`, `realm_id` and `push_account_ids`; each hash may occur only once. Returns the
 * stored row of each hash.
 */
export function presentedInsertion(
  db: Kysely<RelayTables>,
  rows: RawBuilder<unknown>,
): Compilable<PresentedRow> {
  const known = sql<string>`presented_registrations.push_account_ids`;
  return db
    .insertInto('presented_registrations')
    .columns(namesOf(columns))
    .expression(rows)
    .onConflict((conflict) =>
      // A conflict keeps the first realm. An update instead of `do nothing` makes `returning` include the existing row.
      conflict.columns(['forget_at', 'hash']).doUpdateSet({
        push_account_ids: sql<string>`case
          when presented_registrations.realm_id <> excluded.realm_id then ${known}
          when ${known} like '%' || excluded.push_account_ids || '%' then ${known}
          when length(${known}) - length(replace(${known}, ',', ''))
            >= ${sql.lit(2 * maximumAccountsPerRegistration)} then ${known}
          else ${known} || excluded.push_account_ids end`,
      }),
    )
    .returning(['hash', 'realm_id', 'push_account_ids']);
}
