import type { Database, WriteTransaction } from '@waxwing/storage';
import type { JobTables } from './job-tables.js';

interface Schedule {
  readonly everyMilliseconds: number;
  /** When this process should look at it next; others may have done it meanwhile. */
  dueAt: number;
}

/**
 * What must happen once in every period, however many processes there are: a row for each says when it is due, and
 * whoever moves that on also adds the job, in one transaction.
 */
export class Schedules {
  readonly #database: Database<JobTables>;
  readonly #schedules = new Map<string, Schedule>();

  constructor(database: Database<JobTables>) {
    this.#database = database;
  }

  add(name: string, everyMilliseconds: number): void {
    this.#schedules.set(name, { everyMilliseconds, dueAt: Number.NEGATIVE_INFINITY });
  }

  /** When one of them is to be looked at next; infinite when there are none. */
  get nextDueAt(): number {
    return Math.min(...[...this.#schedules.values()].map(({ dueAt }) => dueAt));
  }

  /** Starts those that are due and that no other process has started. */
  async startDue(
    now: number,
    enqueue: (transaction: WriteTransaction<JobTables>, name: string, endsAt: number) => Promise<void>,
  ) {
    for (const [name, schedule] of this.#schedules) {
      // A clock that was set back would else leave a schedule waiting for as long as it was set back.
      if (schedule.dueAt > now && schedule.dueAt <= now + schedule.everyMilliseconds) continue;
      const dueAt = await this.#readDueAt(name);
      const endsAt = now + schedule.everyMilliseconds;
      if (dueAt !== undefined && dueAt > now && dueAt <= endsAt) {
        schedule.dueAt = dueAt;
        continue;
      }
      await this.#database.write(async (transaction) => {
        if (await moveOn(transaction, name, now, endsAt)) await enqueue(transaction, name, endsAt);
      });
      schedule.dueAt = endsAt;
    }
  }

  async #readDueAt(name: string): Promise<number | undefined> {
    const row = await this.#database.db
      .selectFrom('schedules')
      .select('due_at')
      .where('name', '=', name)
      .executeTakeFirst();
    return row?.due_at;
  }
}

/** Whether it was this transaction that began the period. */
async function moveOn(
  { db }: WriteTransaction<JobTables>,
  name: string,
  now: number,
  endsAt: number,
): Promise<boolean> {
  const rows = await db
    .insertInto('schedules')
    .values({ name, due_at: endsAt })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ due_at: endsAt })
        .where((is) => is.or([is('schedules.due_at', '<=', now), is('schedules.due_at', '>', endsAt)])),
    )
    .returning('name')
    .execute();
  return rows.length > 0;
}
