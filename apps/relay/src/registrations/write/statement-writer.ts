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
  /** Writer for registrations that one statement cannot store. */
  readonly inSteps: RegistrationWriter;
}

type Presented = readonly PresentedNow[];
type Outcomes = readonly RegistrationOutcome[];

/** Maximum number of registrations per statement, the same as per transaction. */
const maximumPerStatement = 256;

/**
 * Implements {@link RegistrationWriter} with one PostgreSQL statement at a time. Each statement batches all writes that
 * were queued during the previous statement. Writes that repeat an account or sealed bytes, or that may have an older row
 * under another lookup, use a transaction instead.
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

/** Returns the number of leading writes that fit into one statement. */
function countDistinct(writes: readonly Presented[]): number {
  const distinct = new Distinct();
  const count = writes.findIndex((presented) => !distinct.add(presented));
  return count === -1 ? writes.length : count;
}

/** Set of registrations that fit into one statement. */
class Distinct {
  /** Accounts and hashes share one set, because an account never equals a hash. */
  readonly #names = new Set<string>();
  #count = 0;

  /** Adds registrations and returns whether they fit. Do not call it again after `false`. */
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
