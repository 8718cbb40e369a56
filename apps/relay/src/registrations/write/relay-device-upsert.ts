import type { RelayDeviceId } from '@waxwing/protocol';
import { BulkInsert, namesOf } from '@waxwing/storage';
import type { Compilable, Insertable, Kysely, RawBuilder, Transaction } from 'kysely';
import type { RelayTables } from '../../tables.js';
import type { Addressee } from '../store/addressee.js';

export type RelayDeviceRow = Insertable<RelayTables['relay_devices']> & {
  readonly push_account_id: Addressee;
};

export const deviceColumnTypes = {
  realm_id: 'integer',
  push_account_id: 'text',
  token_kind: 'text',
  token_lookup: 'text',
  token: 'text',
  ios_app_id: 'text',
  apns_environment: 'text',
  registered_at: 'integer',
  dated_at: 'integer',
  expired_at: 'integer',
} as const;
const columns = namesOf(deviceColumnTypes);

/** A row and its index in the input. */
type NumberedRow = readonly [number, RelayDeviceRow];

interface SavedRow {
  readonly id: RelayDeviceId;
  readonly push_account_id: Addressee;
}

/** Upserts devices, many rows per statement. Compiles its statements once per database. */
export class RelayDeviceUpsert {
  readonly #statement: BulkInsert<SavedRow>;

  constructor(db: Kysely<RelayTables>) {
    this.#statement = new BulkInsert(db, deviceColumnTypes, (rows) => deviceInsertion(db, rows));
  }

  /** Upserts rows and returns their ids in order. If several rows are for the same device, the last row wins. */
  async run(
    db: Transaction<RelayTables>,
    rows: readonly RelayDeviceRow[],
  ): Promise<readonly RelayDeviceId[]> {
    const ids = new Array<RelayDeviceId>(rows.length);
    let waiting: readonly NumberedRow[] = [...rows.entries()];
    while (waiting.length > 0) {
      // A statement's results are matched only by push account, so each account may occur only once per round.
      const round = new Map<string, NumberedRow>();
      const later: NumberedRow[] = [];
      for (const each of waiting) {
        const account = each[1].push_account_id;
        if (round.has(account)) later.push(each);
        else round.set(account, each);
      }
      const rows = [...round.values()]
        .sort(byAccount)
        .map(([, row]) => columns.map((column) => row[column] ?? null));
      for (const { id, push_account_id } of await this.#statement.run(db, rows)) {
        const saved = round.get(push_account_id);
        if (saved !== undefined) ids[saved[0]] = id;
      }
      waiting = later;
    }
    return ids;
  }
}

// Without a fixed order of rows in a statement, two transactions on the same devices could deadlock.
function byAccount([, left]: NumberedRow, [, right]: NumberedRow): number {
  return left.push_account_id < right.push_account_id ? -1 : 1;
}

/** Upserts rows of {@link deviceColumnTypes}; each device may occur only once. */
export function deviceInsertion(db: Kysely<RelayTables>, rows: RawBuilder<unknown>): Compilable<SavedRow> {
  return db
    .insertInto('relay_devices')
    .columns(columns)
    .expression(rows)
    .onConflict((conflict) =>
      conflict.columns(['realm_id', 'push_account_id', 'token_lookup']).doUpdateSet(({ ref }) => ({
        token_kind: ref('excluded.token_kind'),
        token: ref('excluded.token'),
        ios_app_id: ref('excluded.ios_app_id'),
        apns_environment: ref('excluded.apns_environment'),
        registered_at: ref('excluded.registered_at'),
        dated_at: ref('excluded.dated_at'),
        expired_at: ref('excluded.expired_at'),
      })),
    )
    .returning(['id', 'push_account_id']);
}
