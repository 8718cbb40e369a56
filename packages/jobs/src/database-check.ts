import { answerWithin } from '@waxwing/service/lifecycle';
import { type Database, DatabaseUnavailableError } from '@waxwing/storage';
import { sql } from 'kysely';
import type { JobTables } from './job-tables.js';

// Short, because a readiness probe must respond quickly.
const timeoutMilliseconds = 3000;
const writeEveryMilliseconds = 5000;
const row = { name: 'storage/write-check', due_at: 0 };

interface Written {
  readonly at: number;
  readonly problem: string | undefined;
}

/** Readiness check of the database. Also writes, because a database on a full disk still answers queries. */
export class DatabaseCheck {
  readonly #database: Database<JobTables>;
  readonly #now: () => number;
  #written: Written | undefined;
  #writing: Promise<Written> | undefined;

  constructor(database: Database<JobTables>, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /**
   * Resolves to `undefined` if the database works, otherwise to a sentence that says what is wrong. Reads on every
   * call, and writes at most every five seconds.
   */
  async run(): Promise<string | undefined> {
    const late = `the database has not answered for ${timeoutMilliseconds / 1000} s`;
    const busy = `${late}: all connections of this process are in use`;
    try {
      const found = await answerWithin(timeoutMilliseconds, this.#readAndWrite(), late);
      return found === late && this.#database.isPoolExhausted() ? busy : found;
    } catch (error) {
      const { message } = error as Error;
      return error instanceof DatabaseUnavailableError
        ? asClause(message)
        : `the database does not answer: ${message}`;
    }
  }

  async #readAndWrite(): Promise<string | undefined> {
    await sql`select 1`.execute(this.#database.db);
    const sinceWritten = this.#now() - (this.#written?.at ?? Number.NEGATIVE_INFINITY);
    // A negative age means that the clock was set back: write now instead of skipping writes until the clock has caught
    // up.
    const isRecent = sinceWritten >= 0 && sinceWritten < writeEveryMilliseconds;
    if (this.#written !== undefined && isRecent) return this.#written.problem;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    this.#written = await this.#writing;
    return this.#written.problem;
  }

  /** Inserts and deletes a row in one transaction, which needs disk space and an fsync but leaves no row behind. */
  async #write(): Promise<Written> {
    try {
      await this.#database.write(async ({ db }) => {
        await db.insertInto('schedules').values(row).execute();
        await db.deleteFrom('schedules').where('name', '=', row.name).execute();
      });
      return { at: this.#now(), problem: undefined };
    } catch (error) {
      const problem = `the database cannot be written: ${asClause((error as Error).message)}`;
      return { at: this.#now(), problem };
    }
  }
}

function asClause(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, '');
}
