import { DatabaseUnavailableError } from '@waxwing/storage';
import type { RegistrationOutcome } from '../opening/registration-batches.js';
import {
  type PresentedNow,
  RegistrationStatement,
  type RegistrationStatementOptions,
} from './registration-statement.js';
import type { RegistrationToWrite, RegistrationWriter } from './registration-writer.js';

export interface StatementWriterOptions extends RegistrationStatementOptions {
  /** Fallback for what one statement cannot write. */
  readonly inSteps: RegistrationWriter;
}

interface Waiting {
  readonly presented: readonly PresentedNow[];
  resolve(outcomes: readonly RegistrationOutcome[]): void;
  reject(reason: unknown): void;
}

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
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor({ inSteps, ...options }: StatementWriterOptions) {
    this.#inSteps = inSteps;
    this.#statement = new RegistrationStatement(options);
  }

  get isIdle(): boolean {
    return !this.#isWriting;
  }

  write(registrations: readonly RegistrationToWrite[], now: number): Promise<readonly RegistrationOutcome[]> {
    const presented = registrations.map((registration) => ({ registration, now }));
    if (!new Distinct().add(presented)) return this.#inSteps.write(registrations, now);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ presented, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) await this.#writeBatch(this.#takeDistinct());
    this.#isWriting = false;
  }

  #takeDistinct(): readonly Waiting[] {
    const distinct = new Distinct();
    let count = 0;
    for (const { presented } of this.#waiting) {
      if (!distinct.add(presented)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  /** If a group fails, retries its writes one by one, so that one caller's input does not fail the others. */
  async #writeBatch(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = (await this.#statement.run(group.flatMap(({ presented }) => presented))).values();
      for (const { presented, resolve } of group) {
        resolve(Array.from(presented, () => outcomes.next().value as RegistrationOutcome));
      }
    } catch (error) {
      if (group.length > 1 && !(error instanceof DatabaseUnavailableError)) {
        for (const each of group) await this.#writeBatch([each]);
      } else {
        for (const { reject } of group) reject(error);
      }
    }
  }
}

/** Set of registrations that one statement can take together. */
class Distinct {
  /** Accounts and hashes in one set: a decimal text is never a hash. */
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
