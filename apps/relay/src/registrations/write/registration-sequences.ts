import { livenessTimeoutSeconds } from '@waxwing/protocol';
import { BulkInsert, namesOf, rowsAsTable } from '@waxwing/storage';
import { type Compilable, type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { RealmId } from '../../servers/server-tables.js';
import type { RelayTables } from '../../tables.js';
import type { Addressee } from '../store/addressee.js';
import type { RegistrationToWrite } from './registration-writer.js';

type Numbered = Pick<RegistrationToWrite, 'row' | 'sequence'>;

/** The highest sequence that an account has presented. */
interface AccountSequence {
  readonly realm_id: RealmId;
  readonly push_account_id: Addressee;
  readonly sequence: number;
}

/**
 * Maximum lead of a stored sequence over the clock. Sequences further ahead are ignored: the relay accepts a lead of at
 * most the liveness timeout, so a lead of more than twice as much means that the clock was wrong. Such a sequence would
 * lock out its phone.
 */
const furthestAheadMilliseconds = 2 * livenessTimeoutSeconds * 1000;

const columns = {
  realm_id: 'integer',
  push_account_id: 'text',
  sequence: 'integer',
  presented_at: 'integer',
} as const;

/**
 * Replay protection: stores each account's highest sequence, so that a server cannot present a registration that the
 * phone has replaced. Sequences outlive the account's devices. Compiles its statements once per database.
 */
export class RegistrationSequences {
  readonly #raise: BulkInsert<AccountSequence>;

  constructor(db: Kysely<RelayTables>) {
    this.#raise = new BulkInsert(db, columns, (rows) => sequenceInsertion(db, rows));
  }

  /**
   * Stores the sequences and returns the current registrations. A registration is current if its account has presented
   * no higher sequence, in this batch or earlier. A registration without a sequence is current if its account has never
   * presented a sequence.
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
    // Sorted, because without a fixed lock order two transactions could deadlock.
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
 * Deletes the sequences of about `limit` accounts that have presented no current registration since `before` (Unix
 * milliseconds). Returns the number of deleted sequences.
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
 * Upserts rows of `realm_id`, `push_account_id`, `sequence` and `presented_at`; each account may occur only once.
 * Returns the current sequence of each account.
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
        // A refused registration changes nothing. Otherwise repeating it would keep the account's row from expiring.
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
