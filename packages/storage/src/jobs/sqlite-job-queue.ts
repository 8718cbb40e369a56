import { type Kysely, sql, type Transaction } from 'kysely';
import type { GroupCommit } from '../group-commit.js';
import type { AnyTransaction } from '../transaction.js';
import type { ApplyOutcome, Job, JobHandler, JobOutcome, JobQueue, NewJob } from './job-queue.js';
import type { JobTables } from './job-tables.js';

export interface JobQueueOptions {
  readonly now: () => number;
  /** Told of a handler that threw: the job is retried, but somebody should know why. */
  onHandlerError(error: unknown, job: Job): void;
}

// Longer than any handler may take; a process that dies frees its leases at the next start, not by waiting for this.
const leaseMilliseconds = 5 * 60_000;
// Jobs that another process adds (the command line, beside a serving process) are found at the latest after this.
const pollMilliseconds = 1000;
const retryAfterThrowMilliseconds = { first: 1000, cap: 60 * 60_000 };

/** {@link JobQueue} as a lease table. One serving process at a time, which the file's serving lock guarantees. */
export class SqliteJobQueue implements JobQueue {
  readonly #db: Kysely<JobTables>;
  readonly #commits: GroupCommit<JobTables>;
  readonly #options: JobQueueOptions;
  readonly #handlers = new Map<string, JobHandler>();
  readonly #running = new Map<string, Set<Promise<void>>>();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #claiming: Promise<void> | undefined;
  #claimAgain = false;
  #started = false;

  constructor(db: Kysely<JobTables>, commits: GroupCommit<JobTables>, options: JobQueueOptions) {
    this.#db = db;
    this.#commits = commits;
    this.#options = options;
  }

  async enqueue(transaction: AnyTransaction, job: NewJob): Promise<void> {
    const now = this.#options.now();
    const row = {
      kind: job.kind,
      payload: job.payload,
      created_at: now,
      run_at: job.runAt ?? now,
      give_up_at: job.giveUpAt,
      attempt: 0,
      leased_until: null,
      last_reason: null,
    };
    await jobTables(transaction).insertInto('jobs').values(row).execute();
    transaction.afterCommit(() => this.#wake());
  }

  handle(kind: string, handler: JobHandler): void {
    this.#handlers.set(kind, handler);
    this.#running.set(kind, new Set());
  }

  async start(): Promise<void> {
    await this.#db
      .updateTable('jobs')
      .set({ leased_until: null })
      .where('leased_until', 'is not', null)
      .execute();
    this.#started = true;
    this.#wake();
  }

  async idle(): Promise<void> {
    this.#wake();
    for (;;) {
      await this.#claiming;
      const running = [...this.#running.values()].flatMap((set) => [...set]);
      if (running.length === 0 && this.#claiming === undefined) return;
      await Promise.all(running);
    }
  }

  async stop(deadlineMilliseconds: number): Promise<void> {
    this.#started = false;
    clearTimeout(this.#timer);
    await this.#claiming;
    const running = [...this.#running.values()].flatMap((set) => [...set]);
    const deadline = setTimeout(() => this.#stopping.abort(), deadlineMilliseconds);
    await Promise.all(running);
    clearTimeout(deadline);
  }

  #wake(): void {
    if (!this.#started) return;
    if (this.#claiming !== undefined) {
      this.#claimAgain = true;
      return;
    }
    this.#claiming = this.#claimAll()
      .catch((error: unknown) => this.#claimFailed(error))
      .finally(() => {
        this.#claiming = undefined;
        if (this.#claimAgain) this.#wake();
      });
  }

  async #claimAll(): Promise<void> {
    this.#claimAgain = false;
    clearTimeout(this.#timer);
    for (const [kind, handler] of this.#handlers) {
      const running = this.#running.get(kind) ?? new Set();
      const free = handler.concurrency - running.size;
      if (free <= 0) continue;
      const jobs = await this.#claim(kind, free);
      for (const { job, lastReason } of jobs) {
        const done = this.#attempt(handler, job, lastReason).finally(() => {
          running.delete(done);
          this.#wake();
        });
        running.add(done);
      }
    }
    this.#timer = setTimeout(() => this.#wake(), pollMilliseconds);
    this.#timer.unref();
  }

  #claimFailed(error: unknown): void {
    this.#options.onHandlerError(error, {
      id: 'none',
      kind: 'claim',
      payload: '',
      attempt: 0,
      createdAt: 0,
      giveUpAt: 0,
    });
    this.#timer = setTimeout(() => this.#wake(), pollMilliseconds);
    this.#timer.unref();
  }

  async #claim(kind: string, limit: number): Promise<{ job: Job; lastReason: string | null }[]> {
    const now = this.#options.now();
    const due = this.#db
      .selectFrom('jobs')
      .select('id')
      .where('kind', '=', kind)
      .where('run_at', '<=', now)
      .where((is) => is.or([is('leased_until', 'is', null), is('leased_until', '<=', now)]))
      .orderBy('run_at')
      .orderBy('id')
      .limit(limit);
    // A claim writes, and each write costs a sync of the disk: look first whether there is anything to claim.
    const found = await due.execute();
    if (found.length === 0) return [];
    const ids = found.map(({ id }) => id);
    const rows = await this.#commits.run(({ db }) =>
      db
        .updateTable('jobs')
        .set({ leased_until: now + leaseMilliseconds, attempt: sql`attempt + 1` })
        .where('id', 'in', ids)
        .returningAll()
        .execute(),
    );
    return rows
      .sort((a, b) => a.run_at - b.run_at || a.id - b.id)
      .map((row) => ({
        job: {
          id: String(row.id),
          kind: row.kind,
          payload: row.payload,
          attempt: row.attempt,
          createdAt: row.created_at,
          giveUpAt: row.give_up_at,
        },
        lastReason: row.last_reason,
      }));
  }

  async #attempt(handler: JobHandler, job: Job, lastReason: string | null): Promise<void> {
    const outcome = await this.#outcomeOf(handler, job, lastReason);
    try {
      await this.#commits.run((transaction) => this.#record(transaction, job, outcome));
    } catch (error) {
      // The lease runs out and the job is done again: at least once, as promised.
      this.#options.onHandlerError(error, job);
    }
  }

  async #outcomeOf(handler: JobHandler, job: Job, lastReason: string | null): Promise<JobOutcome> {
    if (this.#options.now() >= job.giveUpAt) {
      const reason = lastReason ?? 'it was never tried';
      return { kind: 'dead', reason: `given up: ${reason}`, apply: handler.giveUp(job, reason) };
    }
    try {
      return await handler.run(job, this.#stopping.signal);
    } catch (error) {
      this.#options.onHandlerError(error, job);
      const { first, cap } = retryAfterThrowMilliseconds;
      const at = this.#options.now() + Math.min(cap, first * 2 ** Math.min(job.attempt - 1, 30));
      return { kind: 'retry', at, reason: 'internal error' };
    }
  }

  async #record(transaction: AnyTransaction, job: Job, outcome: JobOutcome): Promise<void> {
    const db = jobTables(transaction);
    const id = Number(job.id);
    await (outcome.apply as ApplyOutcome | undefined)?.(transaction);
    if (outcome.kind === 'retry') {
      const change = {
        run_at: Math.min(outcome.at, job.giveUpAt),
        leased_until: null,
        last_reason: outcome.reason,
      };
      await db.updateTable('jobs').set(change).where('id', '=', id).execute();
      return;
    }
    await db.deleteFrom('jobs').where('id', '=', id).execute();
    if (outcome.kind === 'dead') {
      const dead = {
        id,
        kind: job.kind,
        payload: job.payload,
        created_at: job.createdAt,
        attempts: job.attempt,
        reason: outcome.reason,
        died_at: this.#options.now(),
      };
      await db.insertInto('dead_jobs').values(dead).execute();
    }
  }
}

function jobTables(transaction: AnyTransaction): Transaction<JobTables> {
  return transaction.db as Transaction<JobTables>;
}
