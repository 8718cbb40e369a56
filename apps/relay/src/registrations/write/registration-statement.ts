import type { RelayDeviceId } from '@waxwing/protocol';
import { type Database, type GivenRow, namesOf, StatementOfRows } from '@waxwing/storage';
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { RelayTables } from '../../tables.js';
import type { RegistrationOutcome } from '../opening/registration-batches.js';
import type { KeyUseCounts } from '../opening/registration-keys.js';
import { presentedInsertion } from './presented-registrations.js';
import { sequenceInsertion } from './registration-sequences.js';
import type { RegistrationToWrite } from './registration-writer.js';
import { deviceColumnTypes, deviceInsertion } from './relay-device-upsert.js';

export interface RegistrationStatementOptions {
  readonly database: Pick<Database<RelayTables>, 'db' | 'writeStatement'>;
  readonly keyUses: KeyUseCounts;
}

/** A registration and the time at which it is written, in Unix milliseconds. */
export interface PresentedNow {
  readonly registration: RegistrationToWrite;
  readonly now: number;
}

interface WrittenRow {
  readonly position: number;
  readonly is_own: boolean;
  readonly id: RelayDeviceId | null;
}

const deviceColumns = namesOf(deviceColumnTypes);
const columns = {
  position: 'integer',
  ...deviceColumnTypes,
  forget_at: 'integer',
  hash: 'text',
  sequence: 'integer',
  presented_at: 'integer',
  public_key: 'text',
  day: 'integer',
  slot: 'integer',
} as const;

/**
 * Does the work of {@link TransactionWriter} in one PostgreSQL statement, which takes one round trip. Uses the same
 * insertions and locks rows in the same order. Contains no separate lookups, so that connections can cache the plan:
 * accounts without a sequence are stored with 0, and the insertion returns whether an account ever had a sequence.
 */
export class RegistrationStatement {
  readonly #options: RegistrationStatementOptions;
  /** Statement for registrations that all name their audience and need no replay record. */
  readonly #unclaimed: StatementOfRows<WrittenRow>;
  readonly #claiming: StatementOfRows<WrittenRow>;

  constructor(options: RegistrationStatementOptions) {
    this.#options = options;
    const build = (hasClaims: boolean) =>
      new StatementOfRows(columns, (rows) => buildStatement(options, hasClaims, rows), { isInsertion: true });
    this.#unclaimed = build(false);
    this.#claiming = build(true);
  }

  /**
   * Commits all registrations or none, and returns their outcomes in order. No account and no sealed bytes may occur
   * twice, and `olderLookups` must be empty.
   */
  async run(presented: readonly PresentedNow[]): Promise<readonly RegistrationOutcome[]> {
    const { database, keyUses } = this.#options;
    const { day, slot } = keyUses.rowAt(presented[0]?.now ?? 0);
    const rows = presented.map(({ registration, now }, position): GivenRow => {
      const { row, mark, sequence = 0, bouncerPublicKey } = registration;
      const device = deviceColumns.map((column) => row[column] ?? null);
      const { hash = null, forgetAt = null } = mark ?? {};
      return [position, ...device, forgetAt, hash, sequence, now, bouncerPublicKey, day, slot];
    });
    const hasClaims = presented.some(({ registration }) => registration.mark !== undefined);
    const statement = hasClaims ? this.#claiming : this.#unclaimed;
    const outcomes = new Array<RegistrationOutcome>(presented.length);
    for (const { position, is_own, id } of await database.writeStatement((db) => statement.run(db, rows))) {
      outcomes[position] = id ?? (is_own ? 'superseded' : 'presented-before');
    }
    return outcomes;
  }
}

function buildStatement(
  { database: { db }, keyUses }: RegistrationStatementOptions,
  hasClaims: boolean,
  rows: RawBuilder<unknown>,
): CompiledQuery<WrittenRow> {
  const listed = sql`',' || given.push_account_id || ','`;
  const claims = sql`select forget_at, hash, realm_id, ${listed} from given
    where hash is not null order by hash collate "C"`;
  const claimants = sql`select given.* from given left join claimed on claimed.hash = given.hash
    where given.hash is null
      or (claimed.realm_id = given.realm_id and strpos(claimed.push_account_ids, ${listed}) > 0)`;
  const sequences = sql`select realm_id, push_account_id, sequence, presented_at from own
    order by (realm_id || ' ' || push_account_id) collate "C"`;
  const devices = sql`select ${listOf(deviceColumns)} from in_force order by push_account_id collate "C"`;
  const uses = sql`select public_key, day, slot, count(*), max(presented_at) from in_force
    group by public_key, day, slot order by public_key collate "C"`;
  const steps = [
    sql`given (${listOf(namesOf(columns))}) as (${rows})`,
    ...(hasClaims ? [sql`claimed as (${presentedInsertion(db, claims)})`] : []),
    sql`own as (${hasClaims ? claimants : sql`select * from given`})`,
    sql`raised as (${sequenceInsertion(db, sequences)})`,
    sql`in_force as (
      select own.* from own join raised
        on raised.realm_id = own.realm_id and raised.push_account_id = own.push_account_id
      where own.sequence >= raised.sequence)`,
    sql`saved as (${deviceInsertion(db, devices)})`,
    sql`counted as (${keyUses.insertion(db, uses)})`,
  ];
  return sql<WrittenRow>`
    with ${sql.join(steps)}
    select given.position, own.position is not null as is_own, saved.id
    from given
    left join own on own.position = given.position
    left join saved on saved.push_account_id = given.push_account_id`.compile(db);
}

function listOf(columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql.ref(column)));
}
