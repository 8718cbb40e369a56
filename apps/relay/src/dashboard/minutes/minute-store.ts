import { removeInBatches } from '@waxwing/storage';
import type { RelayDatabase } from '../../tables.js';
import { indexOfCell, minuteCells } from './minute-cells.js';

/** The amounts of one minute, in the order of {@link minuteCells}. */
export type MinuteAmounts = readonly number[];

const minuteMilliseconds = 60_000;
const keptMinutes = 7 * 24 * 60;

export function minuteOf(now: number): number {
  return Math.floor(now / minuteMilliseconds);
}

/** Adds amounts by minute to the stored amounts, which all processes share. */
export async function addMinutes(
  database: RelayDatabase,
  minutes: ReadonlyMap<number, MinuteAmounts>,
): Promise<void> {
  // Sorts by minute and cell: without a fixed lock order, two transactions could deadlock.
  const sorted = [...minutes].sort(([left], [right]) => left - right);
  const rows = sorted.flatMap(([minute, amounts]) =>
    minuteCells
      .map((cell, index) => ({
        minute,
        vendor: cell.vendor,
        outcome: cell.outcome,
        amount: amounts[index] ?? 0,
      }))
      .filter(({ amount }) => amount > 0),
  );
  if (rows.length === 0) return;
  await database.write(({ db }) =>
    db
      .insertInto('minute_counts')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['minute', 'vendor', 'outcome']).doUpdateSet((eb) => ({
          amount: eb('minute_counts.amount', '+', eb.ref('excluded.amount')),
        })),
      )
      .execute(),
  );
}

/** Reads the stored amounts for the minutes from `first` to `last`, inclusive. Omits minutes without counts. */
export async function readMinutes(
  { db }: RelayDatabase,
  first: number,
  last: number,
): Promise<Map<number, number[]>> {
  const rows = await db
    .selectFrom('minute_counts')
    .selectAll()
    .where('minute', '>=', first)
    .where('minute', '<=', last)
    .execute();
  const minutes = new Map<number, number[]>();
  for (const row of rows) {
    const index = indexOfCell(row);
    if (index === undefined) continue;
    const amounts = minutes.get(row.minute) ?? minuteCells.map(() => 0);
    amounts[index] = Number(row.amount);
    minutes.set(row.minute, amounts);
  }
  return minutes;
}

/** Deletes figures older than seven days. Returns the number of deleted rows. */
export function forgetOldMinutes(database: RelayDatabase, now: number, signal: AbortSignal): Promise<number> {
  const first = minuteOf(now) - keptMinutes;
  const forgetSome = (limit: number) =>
    database.write(async ({ db }) => {
      const old = db.selectFrom('minute_counts').select('minute').where('minute', '<', first);
      // Deletes whole minutes, oldest first. A batch exceeds `limit` only slightly: a minute has one row per figure.
      const { numDeletedRows } = await db
        .deleteFrom('minute_counts')
        .where('minute', 'in', old.orderBy('minute').limit(limit))
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    });
  return removeInBatches(forgetSome, signal);
}
