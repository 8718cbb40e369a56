import { CompiledQuery, type Insertable, type Kysely, type Transaction } from 'kysely';
import type { RelayTables } from '../relay-tables.js';

export type RelayDeviceRow = Insertable<RelayTables['relay_devices']> & { readonly push_account_id: string };

// Few shapes of statement, so that each stays prepared; the larger ones share the cost of a round trip.
const rowsPerStatement = [64, 16, 4, 1] as const;

const columns = [
  'realm_id',
  'push_account_id',
  'token_kind',
  'token_lookup',
  'token',
  'ios_app_id',
  'apns_environment',
  'registered_at',
  'expired_at',
] as const;

const templateRow: RelayDeviceRow = {
  realm_id: 0,
  push_account_id: '',
  token_kind: '',
  token_lookup: '',
  token: '',
  ios_app_id: '',
  apns_environment: '',
  registered_at: 0,
  expired_at: 0,
};

interface SavedRow {
  readonly id: number;
  readonly realm_id: number;
  readonly push_account_id: string;
  readonly token_lookup: string;
}

/** Inserts rows or renews those that exist, many to a statement. The statements are built once for a database. */
export class RelayDeviceUpsert {
  readonly #statements: readonly { readonly rows: number; readonly sql: string }[];

  constructor(db: Kysely<RelayTables>) {
    this.#statements = rowsPerStatement.map((rows) => ({ rows, sql: buildStatement(db, rows) }));
  }

  /** The ids of the rows, in their order; the last of several rows for one device wins. */
  async run(db: Transaction<RelayTables>, rows: readonly RelayDeviceRow[]): Promise<number[]> {
    const distinct = [...new Map(rows.map((row) => [identityOf(row), row])).values()];
    const ids = new Map<string, number>();
    let offset = 0;
    for (const { rows: size, sql } of this.#statements) {
      for (; distinct.length - offset >= size; offset += size) {
        const parameters = distinct
          .slice(offset, offset + size)
          .flatMap((row) => columns.map((column) => row[column]));
        const saved = await db.executeQuery<SavedRow>(CompiledQuery.raw(sql, parameters));
        for (const row of saved.rows) ids.set(identityOf(row), row.id);
      }
    }
    return rows.map((row) => idOf(ids, row));
  }
}

function buildStatement(db: Kysely<RelayTables>, rows: number): string {
  return db
    .insertInto('relay_devices')
    .columns(columns)
    .values(Array.from({ length: rows }, () => templateRow))
    .onConflict((conflict) =>
      conflict.columns(['realm_id', 'push_account_id', 'token_lookup']).doUpdateSet(({ ref }) => ({
        token_kind: ref('excluded.token_kind'),
        token: ref('excluded.token'),
        ios_app_id: ref('excluded.ios_app_id'),
        apns_environment: ref('excluded.apns_environment'),
        registered_at: ref('excluded.registered_at'),
        expired_at: ref('excluded.expired_at'),
      })),
    )
    .returning(['id', 'realm_id', 'push_account_id', 'token_lookup'])
    .compile().sql;
}

type Identity = Pick<SavedRow, 'realm_id' | 'push_account_id' | 'token_lookup'>;

function identityOf({ realm_id, push_account_id, token_lookup }: Identity): string {
  return `${realm_id} ${push_account_id} ${token_lookup}`;
}

function idOf(ids: ReadonlyMap<string, number>, row: RelayDeviceRow): number {
  const id = ids.get(identityOf(row));
  if (id === undefined) throw new Error('the database did not return the id of a RelayDevice that it saved');
  return id;
}
