import { DatabaseUnavailableError } from '@waxwing/storage';
import type { RegistrationOutcome } from '../opening/registration-batches.js';
import {
  type PresentedNow,
  RegistrationStatement,
  type RegistrationStatementOptions,
} from './registration-statement.js';
import type { RegistrationToWrite, RegistrationWriter } from './registration-writer.js';

export interface StatementWriterOptions extends RegistrationStatementOptions {
  /** Who writes what one statement cannot. */
  readonly inSteps: RegistrationWriter;
}

interface Waiting {
  readonly presented: readonly PresentedNow[];
  resolve(outcomes: readonly RegistrationOutcome[]): void;
  reject(reason: unknown): void;
}

/** As many as a transaction takes together. */
const maximumPerStatement = 256;

/**
 * {@link RegistrationWriter} by one statement of PostgreSQL after the other, each for all that came meanwhile. What names an
 * account or sealed bytes twice, or may have an older row under another look-up, takes the steps of a transaction.
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
    while (this.#waiting.length > 0) await this.#writeTogether(this.#takeDistinct());
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

  /** What fails together is done again one by one, so that nobody is refused for what others asked. */
  async #writeTogether(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = (await this.#statement.run(group.flatMap(({ presented }) => presented))).values();
      for (const { presented, resolve } of group) {
        resolve(Array.from(presented, () => outcomes.next().value as RegistrationOutcome));
      }
    } catch (error) {
      if (group.length > 1 && !(error instanceof DatabaseUnavailableError)) {
        for (const each of group) await this.#writeTogether([each]);
      } else {
        for (const { reject } of group) reject(error);
      }
    }
  }
}

/** Registrations that one statement can take together. */
class Distinct {
  /** Accounts and hashes: a decimal text is never a hash. */
  readonly #names = new Set<string>();
  #count = 0;

  /** Whether these can join those before; after some that cannot, nothing may be added any more. */
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
