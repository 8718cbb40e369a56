import type { Database, WriteTransaction } from '@waxwing/storage';
import type { SchedulePeriod } from './job-queue.js';
import type { JobTables } from './job-tables.js';

/** A period that has just begun. `endsAt` is in Unix milliseconds. */
interface StartedPeriod extends SchedulePeriod {
  readonly name: string;
  readonly endsAt: number;
}

interface Schedule {
  readonly everyMilliseconds: number;
  /** When this process next checks the schedule, in Unix milliseconds. Another process may start the period first. */
  dueAt: number;
}

/**
 * Periodic jobs that run once per period across all processes. Each schedule has a row with its due time. The
 * transaction that advances the due time also enqueues the job, so only one process enqueues it.
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

  /** When the next schedule must be checked, in Unix milliseconds; `Infinity` if there are no schedules. */
  get nextDueAt(): number {
    return Math.min(...[...this.#schedules.values()].map(({ dueAt }) => dueAt));
  }

  /** Enqueues a job for each due schedule that no other process has started. */
  async startDue(
    now: number,
    enqueue: (transaction: WriteTransaction<JobTables>, period: StartedPeriod) => Promise<void>,
  ) {
    for (const [name, schedule] of this.#schedules) {
      // A due time more than one period ahead means that the clock was set back, so it is ignored.
      if (schedule.dueAt > now && schedule.dueAt <= now + schedule.everyMilliseconds) continue;
      const dueAt = await this.#readDueAt(name);
      const endsAt = now + schedule.everyMilliseconds;
      if (dueAt !== undefined && dueAt > now && dueAt <= endsAt) {
        schedule.dueAt = dueAt;
        continue;
      }
      const lateMilliseconds = now - (dueAt ?? Number.NEGATIVE_INFINITY);
      const isContinued = lateMilliseconds >= 0 && lateMilliseconds < schedule.everyMilliseconds;
      await this.#database.write(async (transaction) => {
        const isStarted = await advance(transaction, name, now, endsAt);
        if (isStarted) await enqueue(transaction, { name, endsAt, isContinued });
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

/** Starts a new period if one is due. Resolves to true if this transaction started it. */
async function advance(
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
