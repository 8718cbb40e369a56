import type { Selectable } from 'kysely';
import type { RelayDatabase } from '../tables.js';
import type { ActTables } from './act-table.js';

const keptActs = 10_000;

/** Returns up to `limit` acts from the audit log, newest first. With `before`, only acts with a lower id. */
export async function listActs(
  { db }: RelayDatabase,
  { before, limit }: { readonly before: number | undefined; readonly limit: number },
): Promise<Selectable<ActTables['operator_acts']>[]> {
  let query = db.selectFrom('operator_acts').selectAll();
  if (before !== undefined) query = query.where('id', '<', before);
  return await query.orderBy('id', 'desc').limit(limit).execute();
}

/** Deletes all but the last 10,000 acts. Returns the number of deleted acts. */
export async function forgetOldActs(database: RelayDatabase): Promise<number> {
  const { numDeletedRows } = await database.write(({ db }) =>
    db
      .deleteFrom('operator_acts')
      .where('id', '<=', ({ selectFrom }) =>
        selectFrom('operator_acts').select('id').orderBy('id', 'desc').offset(keptActs).limit(1),
      )
      .executeTakeFirstOrThrow(),
  );
  return Number(numDeletedRows);
}
