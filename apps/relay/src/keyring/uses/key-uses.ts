import { fixedQuery } from '@waxwing/storage';
import { type Compilable, type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { dayMilliseconds } from '../ring/rotation-policy.js';
import type { KeyRingTables } from '../storage/key-ring-tables.js';

/** Usage statistics of one key: registrations opened with it. */
export interface KeyUse {
  /** Counts by day number since the Unix epoch (UTC). Omits days without use. */
  readonly perDay: ReadonlyMap<number, number>;
  /** Unix milliseconds. */
  readonly lastUsedAt: number;
}

export type KeyUses = ReadonlyMap<string, KeyUse>;

export interface NewUse {
  readonly publicKey: string;
  readonly registrations: number;
  /** Unix milliseconds. */
  readonly now: number;
}

export function dayOf(instant: number): number {
  return Math.floor(instant / dayMilliseconds);
}

/** Adds uses to the daily counts of keys, in a fixed order so that two transactions cannot deadlock. */
export async function countKeyUses(
  db: Transaction<KeyRingTables>,
  uses: readonly NewUse[],
  slot: number,
): Promise<void> {
  const nameOf = ({ publicKey, now }: NewUse) => `${publicKey} ${dayOf(now)}`;
  const sorted = [...uses].sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
  for (const use of sorted) await countKeyUse(db, { ...use, day: dayOf(use.now), slot });
}

interface CountedUse extends NewUse {
  readonly day: number;
  readonly slot: number;
}

const countKeyUse = fixedQuery<KeyRingTables, CountedUse, unknown>((db, parameter) =>
  keyUseInsertion(
    db,
    sql`values (${sql.join([
      parameter('publicKey'),
      parameter('day'),
      parameter('slot'),
      parameter('registrations'),
      parameter('now'),
    ])})`,
  ),
);

/**
 * Upserts rows of `public_key`, `day`, `slot`, `registrations` and `last_used_at` into the counts. The first three
 * columns must be unique among `rows`.
 */
export function keyUseInsertion(db: Kysely<KeyRingTables>, rows: RawBuilder<unknown>): Compilable<unknown> {
  return db
    .insertInto('bouncer_key_uses')
    .columns(['public_key', 'day', 'slot', 'registrations', 'last_used_at'])
    .expression(rows)
    .onConflict((conflict) =>
      conflict.columns(['public_key', 'day', 'slot']).doUpdateSet((eb) => ({
        registrations: eb('bouncer_key_uses.registrations', '+', eb.ref('excluded.registrations')),
        last_used_at: eb
          .case()
          .when('excluded.last_used_at', '>', eb.ref('bouncer_key_uses.last_used_at'))
          .then(eb.ref('excluded.last_used_at'))
          .else(eb.ref('bouncer_key_uses.last_used_at'))
          .end(),
      })),
    );
}

/** Reads the stored uses of all keys, by public key. */
export async function readKeyUses(db: Kysely<KeyRingTables>): Promise<KeyUses> {
  const rows = await db
    .selectFrom('bouncer_key_uses')
    .select(({ fn }) => [
      'public_key',
      'day',
      fn.sum<number | string>('registrations').as('registrations'),
      fn.max('last_used_at').as('last_used_at'),
    ])
    .groupBy(['public_key', 'day'])
    .execute();
  const uses = new Map<string, { perDay: Map<number, number>; lastUsedAt: number }>();
  for (const row of rows) {
    const use = uses.get(row.public_key) ?? { perDay: new Map(), lastUsedAt: 0 };
    use.perDay.set(row.day, Number(row.registrations));
    use.lastUsedAt = Math.max(use.lastUsedAt, Number(row.last_used_at));
    uses.set(row.public_key, use);
  }
  return uses;
}

/**
 * Deletes the counts of days that began before `before` (Unix milliseconds). Keeps the counts for each key's last day
 * of use, regardless of age. Returns the number of deleted rows.
 */
export async function deleteOldKeyUses(db: Transaction<KeyRingTables>, before: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('bouncer_key_uses')
    .where('day', '<', dayOf(before))
    .where('day', '<', ({ selectFrom }) =>
      selectFrom('bouncer_key_uses as newer')
        .select(({ fn }) => fn.max('newer.day').as('day'))
        .whereRef('newer.public_key', '=', 'bouncer_key_uses.public_key'),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Returns the number of registrations opened since `since` (Unix milliseconds, rounded down to the day). */
export function usesSince({ perDay }: KeyUse, since: number): number {
  let total = 0;
  for (const [day, registrations] of perDay) if (day >= dayOf(since)) total += registrations;
  return total;
}
