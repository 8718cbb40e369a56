import { answerWithin } from '@waxwing/service/lifecycle';
import type { Database } from '@waxwing/storage';
import { sql } from 'kysely';
import type { JobTables } from './job-tables.js';

// Whoever asks whether the process is ready does not wait for long.
const timeoutMilliseconds = 3000;
const writeEveryMilliseconds = 5000;
const row = { name: 'storage/write-check', due_at: 0 };

interface Written {
  readonly at: number;
  readonly problem: string | undefined;
}

/** Whether a database answers, and still takes durable writes: one on a full disk answers every question. */
export class DatabaseCheck {
  readonly #database: Database<JobTables>;
  readonly #now: () => number;
  #written: Written | undefined;
  #writing: Promise<Written> | undefined;

  constructor(database: Database<JobTables>, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** `undefined`, or a sentence that says what is wrong. Reads each time, and writes at most every five seconds. */
  async run(): Promise<string | undefined> {
    const late = `the database has not answered for ${timeoutMilliseconds / 1000} s`;
    try {
      return await answerWithin(timeoutMilliseconds, this.#readAndWrite(), late);
    } catch (error) {
      return `the database does not answer: ${(error as Error).message}`;
    }
  }

  async #readAndWrite(): Promise<string | undefined> {
    await sql`select 1`.execute(this.#database.db);
    const sinceWritten = this.#now() - (this.#written?.at ?? Number.NEGATIVE_INFINITY);
    // A clock that was set back would else put the next write off for as long as that.
    const isRecent = sinceWritten >= 0 && sinceWritten < writeEveryMilliseconds;
    if (this.#written !== undefined && isRecent) return this.#written.problem;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    this.#written = await this.#writing;
    return this.#written.problem;
  }

  /** A row that comes and goes in one transaction: it takes room and waits for the disk, and nothing stays. */
  async #write(): Promise<Written> {
    try {
      await this.#database.write(async ({ db }) => {
        await db.insertInto('schedules').values(row).execute();
        await db.deleteFrom('schedules').where('name', '=', row.name).execute();
      });
      return { at: this.#now(), problem: undefined };
    } catch (error) {
      return { at: this.#now(), problem: `the database cannot be written: ${(error as Error).message}` };
    }
  }
}
