import { Batcher } from '@waxwing/service/lifecycle';
import { mayBeOneWritesFault } from '@waxwing/storage';
import type { RegistrationOutcome } from '../opening/registration-batches.js';
import {
  type PresentedNow,
  RegistrationStatement,
  type RegistrationStatementOptions,
} from './registration-statement.js';
import type { RegistrationToWrite, RegistrationWriter } from './registration-writer.js';

export interface StatementWriterOptions extends RegistrationStatementOptions {
  /** Fallback for writes that one statement cannot do. */
  readonly inSteps: RegistrationWriter;
}

type Presented = readonly PresentedNow[];
type Outcomes = readonly RegistrationOutcome[];

/** Maximum per statement, the same as per transaction. */
const maximumPerStatement = 256;

/**
 * {@link RegistrationWriter} with one PostgreSQL statement at a time, which batches all writes queued meanwhile. A
 * write that repeats an account or sealed bytes, or may have an older row under another lookup, falls back to a
 * transaction.
 */
export class StatementWriter implements RegistrationWriter {
  readonly #inSteps: RegistrationWriter;
  readonly #statement: RegistrationStatement;
  readonly #batcher = new Batcher<Presented, Outcomes>((writes) => this.#writeAll(writes), {
    dispatch: 'when-idle',
    maximumItems: maximumPerStatement,
    countFitting: countDistinct,
    isolates: mayBeOneWritesFault,
  });

  constructor({ inSteps, ...options }: StatementWriterOptions) {
    this.#inSteps = inSteps;
    this.#statement = new RegistrationStatement(options);
  }

  get isIdle(): boolean {
    return this.#batcher.isIdle;
  }

  write(registrations: readonly RegistrationToWrite[], now: number): Promise<Outcomes> {
    const presented = registrations.map((registration) => ({ registration, now }));
    if (!new Distinct().add(presented)) return this.#inSteps.write(registrations, now);
    return this.#batcher.add(presented);
  }

  async #writeAll(writes: readonly Presented[]): Promise<Outcomes[]> {
    const outcomes = (await this.#statement.run(writes.flat())).values();
    return writes.map((presented) =>
      Array.from(presented, () => outcomes.next().value as RegistrationOutcome),
    );
  }
}

/** Number of leading writes that fit into one statement. */
function countDistinct(writes: readonly Presented[]): number {
  const distinct = new Distinct();
  const count = writes.findIndex((presented) => !distinct.add(presented));
  return count === -1 ? writes.length : count;
}

/** Set of registrations that fit into one statement. */
class Distinct {
  /** Accounts and hashes share one set, because a decimal text is never a hash. */
  readonly #names = new Set<string>();
  #count = 0;

  /** Adds registrations and returns whether they fit. After `false`, nothing more may be added. */
  add(presented: readonly PresentedNow[]): boolean {
    if (this.#count > 0 && this.#count + presented.length > maximumPerStatement) return false;
    this.#count += presented.length;
    return presented.every(({ registration: { row, mark, olderLookups } }) => {
      return olderLookups.length === 0 && this.#addName(row.push_account_id) && this.#addName(mark?.hash);
    });
  }

  #addName(name: string | undefined): boolean {
    if (name === undefined) return true;
    if (this.#names.has(name)) return false;
    this.#names.add(name);
    return true;
  }
}
