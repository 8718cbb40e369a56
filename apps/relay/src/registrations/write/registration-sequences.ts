import { livenessTimeoutSeconds, type PushAccountIdText } from '@waxwing/protocol';
import { BulkInsert, namesOf, rowsAsTable } from '@waxwing/storage';
import { type Compilable, type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { RealmId } from '../../servers/server-tables.js';
import type { RelayTables } from '../../tables.js';
import type { RegistrationToWrite } from './registration-writer.js';

type Numbered = Pick<RegistrationToWrite, 'row' | 'sequence'>;

/** The highest sequence of one account, among those presented now or of all so far. */
interface AccountSequence {
  readonly realm_id: RealmId;
  readonly push_account_id: PushAccountIdText;
  readonly sequence: number;
}

/**
 * How far ahead of the clock a remembered sequence may lie to count. None is taken more than the liveness timeout ahead;
 * one beyond twice that was taken by a clock that was wrong, and would lock its phone out.
 */
const furthestAheadMilliseconds = 2 * livenessTimeoutSeconds * 1000;

const columns = {
  realm_id: 'integer',
  push_account_id: 'text',
  sequence: 'integer',
  presented_at: 'integer',
} as const;

/**
 * Remembers the highest sequence that each account has registered with, so that no server can present a registration
 * again that the phone has replaced since. Removing the account's devices does not make it forget. The statements are
 * built once for a database.
 */
export class RegistrationSequences {
  readonly #raise: BulkInsert<AccountSequence>;

  constructor(db: Kysely<RelayTables>) {
    this.#raise = new BulkInsert(db, columns, (rows) => sequenceInsertion(db, rows));
  }

  /**
   * Those of the registrations that are in force: none with a higher sequence was presented for the same account, before
   * or together with it. One without a sequence is in force as long as its account has never had one.
   */
  async claim<Registration extends Numbered>(
    db: Transaction<RelayTables>,
    registrations: readonly Registration[],
    now: number,
  ): Promise<ReadonlySet<Registration>> {
    const highest = new Map<string, AccountSequence>();
    for (const registration of registrations) {
      const account = toAccount(registration);
      const before = highest.get(nameOf(account));
      if (before === undefined || before.sequence < account.sequence) highest.set(nameOf(account), account);
    }
    const numbered = [...highest.values()].filter(({ sequence }) => sequence > 0);
    const unnumbered = [...highest.values()].filter(({ sequence }) => sequence === 0);
    // In one order everywhere, so that two transactions never wait for each other.
    const rows = numbered
      .sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1))
      .map(({ realm_id, push_account_id, sequence }) => [realm_id, push_account_id, sequence, now]);
    const known = [...(await this.#raise.run(db, rows)), ...(await findSequences(db, unnumbered, now))];
    const inForce = new Map(known.map((account) => [nameOf(account), account.sequence]));
    return new Set(
      registrations.filter((registration) => {
        const account = toAccount(registration);
        return account.sequence >= (inForce.get(nameOf(account)) ?? 0);
      }),
    );
  }
}

/**
 * Forgets the accounts for which nothing came into force since `before` (Unix milliseconds), up to `limit`; how many they
 * were.
 */
export async function forgetRegistrationSequences(
  db: Transaction<RelayTables>,
  before: number,
  limit: number,
): Promise<number> {
  const old = await db
    .selectFrom('registration_sequences')
    .select('presented_at')
    .where('presented_at', '<', before)
    .orderBy('presented_at')
    .limit(limit)
    .execute();
  const last = old.at(-1)?.presented_at;
  if (last === undefined) return 0;
  const { numDeletedRows } = await db
    .deleteFrom('registration_sequences')
    .where('presented_at', '<=', last)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

async function findSequences(
  db: Transaction<RelayTables>,
  accounts: readonly AccountSequence[],
  now: number,
): Promise<readonly AccountSequence[]> {
  if (accounts.length === 0) return [];
  const asked = accounts.map(({ realm_id, push_account_id }) => ({ realm_id, push_account_id }));
  const { rows } = await sql<AccountSequence>`
    select known.realm_id, known.push_account_id, known.sequence
    from ${rowsAsTable(db, 'asked', { realm_id: 'integer', push_account_id: 'text' }, asked)}
    join registration_sequences as known
      on known.realm_id = asked.realm_id and known.push_account_id = asked.push_account_id
    where known.sequence <= ${now + furthestAheadMilliseconds}`.execute(db);
  return rows;
}

function toAccount({ row: { realm_id, push_account_id }, sequence }: Numbered): AccountSequence {
  return { realm_id, push_account_id, sequence: sequence ?? 0 };
}

function nameOf({ realm_id, push_account_id }: AccountSequence): string {
  return `${realm_id} ${push_account_id}`;
}

/**
 * Inserts rows of `realm_id`, `push_account_id`, `sequence` and `presented_at`, each account once in all of them; returns
 * the sequence of each that is then in force.
 */
export function sequenceInsertion(
  db: Kysely<RelayTables>,
  rows: RawBuilder<unknown>,
): Compilable<AccountSequence> {
  return db
    .insertInto('registration_sequences')
    .columns(namesOf(columns))
    .expression(rows)
    .onConflict((conflict) =>
      conflict.columns(['realm_id', 'push_account_id']).doUpdateSet(({ ref, eb }) => {
        const furthest = eb(ref('excluded.presented_at'), '+', eb.lit(furthestAheadMilliseconds));
        const isInForce = eb.or([
          eb(ref('excluded.sequence'), '>=', ref('registration_sequences.sequence')),
          eb(ref('registration_sequences.sequence'), '>', furthest),
        ]);
        // One that is refused changes nothing, or whoever repeats it would keep the account from being forgotten.
        const nowOrBefore = (column: 'sequence' | 'presented_at') =>
          eb
            .case()
            .when(isInForce)
            .then(ref(`excluded.${column}`))
            .else(ref(`registration_sequences.${column}`))
            .end();
        return { sequence: nowOrBefore('sequence'), presented_at: nowOrBefore('presented_at') };
      }),
    )
    .returning(['realm_id', 'push_account_id', 'sequence']);
}
