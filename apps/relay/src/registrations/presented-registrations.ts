import { BulkStatement } from '@waxwing/storage';
import type { Kysely, Transaction } from 'kysely';
import type { RelayDatabase, RelayTables } from '../relay-tables.js';
import type { SealedRegistrationMark } from './registration-binding.js';

/** A mark, and the realm that presented the registration. */
export interface PresentedRegistration extends SealedRegistrationMark {
  readonly realmId: number;
}

const forgottenPerTransaction = 1000;

/**
 * Remembers for which realm each sealed registration was presented first, so that no server can present what it was
 * sent for another realm. The statements are built once for a database.
 */
export class PresentedRegistrations {
  readonly #claim: BulkStatement<{ readonly hash: string; readonly realm_id: number }>;

  constructor(db: Kysely<RelayTables>) {
    this.#claim = new BulkStatement((rows) => buildStatement(db, rows));
  }

  /** The realm that each registration belongs to, by its hash: the one that presented it first. */
  async claim(
    db: Transaction<RelayTables>,
    presented: readonly PresentedRegistration[],
  ): Promise<ReadonlyMap<string, number>> {
    const first = new Map<string, PresentedRegistration>();
    for (const each of presented) if (!first.has(each.hash)) first.set(each.hash, each);
    // In one order everywhere, so that two transactions never wait for each other.
    const sorted = [...first.values()].sort((left, right) => (left.hash < right.hash ? -1 : 1));
    const rows = sorted.map(({ forgetAt, hash, realmId }) => [forgetAt, hash, realmId]);
    const owners = new Map<string, number>();
    for (const { hash, realm_id } of await this.#claim.run(db, rows)) owners.set(hash, realm_id);
    return owners;
  }
}

/** Forgets what nobody could present any more at `now` (Unix milliseconds), a small number at a time; how many they were. */
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

function buildStatement(db: Kysely<RelayTables>, rows: number): string {
  return db
    .insertInto('presented_registrations')
    .columns(['forget_at', 'hash', 'realm_id'])
    .values(Array.from({ length: rows }, () => ({ forget_at: 0, hash: '', realm_id: 0 })))
    .onConflict((conflict) =>
      // The first realm stays; the update only makes the statement return it.
      conflict
        .columns(['forget_at', 'hash'])
        .doUpdateSet(({ ref }) => ({ realm_id: ref('presented_registrations.realm_id') })),
    )
    .returning(['hash', 'realm_id'])
    .compile().sql;
}
