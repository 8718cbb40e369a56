import {
  type AnyTransaction,
  type Database,
  DatabaseUnusableError,
  matchingRows,
  readPages,
  type WriteTransaction,
} from '@waxwing/storage';
import { DeadJobs } from './dead-jobs.js';
import type { JobDetails, JobFilter, JobKindCounts, JobPagesFilter, JobSummary } from './job-listing.js';
import type { Job, JobHandler, JobQueue, NewJob, ScheduledWork } from './job-queue.js';
import { JobRunner } from './job-runner.js';
import type { JobTables } from './job-tables.js';
import type { StoredJob } from './lease.js';
import { LeaseTable } from './lease-table.js';
import { LivingJobs } from './living-jobs.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import { Schedules } from './schedules.js';
import { printable, unstorableCharacters } from './unstorable-characters.js';

export interface JobQueueOptions {
  readonly database: Database<JobTables>;
  readonly mayWork: boolean;
  readonly now: () => number;
  /** Called when a job fails unexpectedly, or when polling fails (`job` is then absent). The work is retried. */
  onError(error: unknown, job?: Job): void;
  /** Called after a job became a dead letter. */
  onGivenUp(job: Job, reason: string): void;
  /** Called after each successful query for due jobs. */
  onAnswer(): void;
  onDeadJobsRemoved(count: number): void;
}

const wakeChannel = 'jobs';
const schedulePrefix = 'schedule/';
/** Payload of a scheduled job whose period directly follows the previous period. */
const continued = 'continued';
const cleanUpMilliseconds = 60 * 60_000;
const defaultListLimit = 100;
/** Page size. Large, because each page sorts all jobs: no index covers this order. */
const jobsPerPage = 5000;
const tallyLimit = 10_000;
const none = { due: 0, waiting: 0, running: 0 };
const bringForwardBatch = 500;
const maximumBroughtForward = 10_000;
const writeNothing = async (_transaction: AnyTransaction): Promise<void> => undefined;

/** A {@link JobQueue} that stores its jobs in the database. Running jobs hold a lease. */
export class DurableJobQueue implements JobQueue<JobTables> {
  /** `leases` and `runner` are public for tests, which wait for jobs in flight. {@link JobQueue} has neither. */
  readonly leases: LeaseTable;
  readonly runner: JobRunner;
  readonly #options: JobQueueOptions;
  readonly #living: LivingJobs;
  readonly #dead: DeadJobs;
  readonly #schedules: Schedules;
  /** Enqueued jobs, by open transaction. They are written in one batch before the transaction commits. */
  readonly #pendingJobs = new WeakMap<object, StoredJob[]>();
  #stopListening: (() => void) | undefined;

  constructor(options: JobQueueOptions) {
    const { database, now } = options;
    this.leases = new LeaseTable({ database, now });
    this.#options = options;
    this.#living = new LivingJobs(database, now);
    this.#dead = new DeadJobs(database, now);
    this.#schedules = new Schedules(database);
    this.runner = new JobRunner({
      leases: this.leases,
      outcomes: new OutcomeRecorder({
        leases: this.leases,
        database,
        dead: this.#dead,
        onGivenUp: (job, reason) => options.onGivenUp(job, reason),
      }),
      now,
      onError: (error, claim) => options.onError(error, claim?.job),
      onAnswer: () => options.onAnswer(),
      beforeClaim: () => this.#startSchedules(),
      nextDueAt: () => this.#schedules.nextDueAt,
    });
    this.schedule('remove-old-dead-letters', cleanUpMilliseconds, async (signal) => {
      options.onDeadJobsRemoved(await this.#dead.removeOld(signal));
    });
  }

  async enqueue(transaction: AnyTransaction, job: NewJob): Promise<void> {
    assertStorable(job);
    const now = this.#options.now();
    this.#add(transaction, {
      kind: job.kind,
      payload: job.payload,
      createdAt: now,
      runAt: Math.min(job.runAt ?? now, job.giveUpAt),
      giveUpAt: job.giveUpAt,
      reason: job.reason === undefined ? undefined : printable(job.reason),
    });
  }

  handle(kind: string, handler: JobHandler<JobTables>): void {
    this.runner.handle(kind, handler);
  }

  schedule(name: string, everyMilliseconds: number, work: ScheduledWork): void {
    this.#schedules.add(name, everyMilliseconds);
    this.handle(`${schedulePrefix}${name}`, {
      concurrency: 1,
      async run({ payload }, signal) {
        await work(signal, { isContinued: payload === continued });
        return { kind: 'done' };
      },
      giveUp: () => async () => {},
    });
  }

  async start(): Promise<void> {
    if (!this.#options.mayWork) {
      throw new DatabaseUnusableError(
        'Only the serving process runs jobs: open the database with the role "serving" to start them.',
      );
    }
    this.#stopListening = await this.#options.database.signals.listen(wakeChannel, (kinds) => {
      this.runner.wake(kinds === undefined ? undefined : (JSON.parse(kinds) as string[]));
    });
    await this.runner.start();
  }

  async stop(deadlineMilliseconds: number): Promise<void> {
    this.#stopListening?.();
    await this.runner.stop(deadlineMilliseconds);
  }

  async tally(): Promise<JobKindCounts[]> {
    const dead = new Map((await this.#dead.tally(tallyLimit)).map(({ kind, count }) => [kind, count]));
    const here = [...this.runner.kinds].filter((kind) => !kind.startsWith(schedulePrefix));
    const tallies: JobKindCounts[] = [];
    for (const kind of here) {
      const living = await this.#living.tally(kind, tallyLimit);
      tallies.push({ kind, ...living, dead: dead.get(kind) ?? 0 });
      dead.delete(kind);
    }
    return [...tallies, ...[...dead].map(([kind, count]) => ({ kind, ...none, dead: count }))];
  }

  async oldestDueAt(): Promise<number | undefined> {
    const kinds = [...this.runner.kinds].filter((kind) => !kind.startsWith(schedulePrefix));
    const found = await Promise.all(kinds.map((kind) => this.#living.oldestDueAt(kind)));
    const oldest = Math.min(...found.filter((at) => at !== undefined));
    return Number.isFinite(oldest) ? oldest : undefined;
  }

  async list(filter: JobFilter): Promise<JobSummary[]> {
    const limit = filter.limit ?? defaultListLimit;
    const living = filter.state === 'dead' ? [] : await this.#living.list({ ...filter, limit });
    const wantsDead = filter.state === undefined || filter.state === 'dead';
    const dead = wantsDead ? await this.#dead.list({ ...filter, limit }) : [];
    const oldestFirst = [...dead, ...living].sort((a, b) => a.createdAt - b.createdAt);
    return oldestFirst.slice(0, limit);
  }

  pages({ state, kind, ...filter }: JobPagesFilter): AsyncGenerator<JobSummary[]> {
    const pages = readPages<JobSummary>(jobsPerPage, (after) =>
      this.list({ state, kind, after, limit: jobsPerPage }),
    );
    return matchingRows(pages, filter, ({ id, kind, reason }) => [id, kind, reason]);
  }

  async show(id: string): Promise<JobDetails | undefined> {
    return (await this.#living.find(id)) ?? (await this.#dead.find(id));
  }

  async retry(id: string, alongside = writeNothing): Promise<boolean> {
    return await this.#options.database.write(async (transaction) => {
      const waitingKind = await this.#living.hasten(transaction.db, id);
      if (waitingKind === undefined && !(await this.#retryDead(transaction, id))) return false;
      if (waitingKind !== undefined) await this.#signal(transaction, [waitingKind]);
      await alongside(transaction);
      return true;
    });
  }

  async drop(id: string, alongside = writeNothing): Promise<boolean> {
    return await this.#options.database.write(async (transaction) => {
      const { db } = transaction;
      const isDropped = (await this.#living.remove(db, id)) || (await this.#dead.take(db, id)) !== undefined;
      if (isDropped) await alongside(transaction);
      return isDropped;
    });
  }

  async bringForward(kind: string, everyMilliseconds: number, { failedOnly = false } = {}): Promise<void> {
    const { database, now } = this.#options;
    let from = now();
    for (let moved = 0; moved < maximumBroughtForward; moved += bringForwardBatch) {
      const limit = bringForwardBatch;
      const count = await this.#living.bringForward({ kind, from, everyMilliseconds, limit, failedOnly });
      if (count === 0) return;
      await database.write((transaction) => this.#signal(transaction, [kind]));
      from += count * everyMilliseconds;
    }
  }

  /** Enqueues a dead job again. Resolves to false if there is no such job. */
  async #retryDead(transaction: WriteTransaction<JobTables>, id: string): Promise<boolean> {
    const dead = await this.#dead.take(transaction.db, id);
    if (dead === undefined) return false;
    const giveUpAt = this.#options.now() + Math.max(0, dead.giveUpAt - dead.createdAt);
    const { kind, payload } = dead;
    await this.enqueue(transaction, { kind, payload, giveUpAt });
    return true;
  }

  #add(transaction: AnyTransaction, job: StoredJob): void {
    const others = this.#pendingJobs.get(transaction.db);
    if (others !== undefined) return void others.push(job);
    const jobs = [job];
    this.#pendingJobs.set(transaction.db, jobs);
    transaction.beforeCommit(async () => {
      await this.leases.add(transaction, jobs);
      await this.#signal(transaction, [...new Set(jobs.map(({ kind }) => kind))]);
    });
  }

  async #signal(transaction: AnyTransaction, kinds: readonly string[]): Promise<void> {
    transaction.afterCommit(() => this.runner.wake(kinds));
    await this.#options.database.signals.notify(transaction, wakeChannel, JSON.stringify(kinds));
  }

  async #startSchedules(): Promise<void> {
    const now = this.#options.now();
    await this.#schedules.startDue(now, async (transaction, { name, endsAt, isContinued }) => {
      const payload = isContinued ? continued : '';
      await this.enqueue(transaction, { kind: `${schedulePrefix}${name}`, payload, giveUpAt: endsAt });
    });
  }
}

/** Throws a TypeError for a job that SQLite or PostgreSQL could not store, so that both behave alike. */
function assertStorable({ kind, payload }: NewJob): void {
  if (!/^[\w.\-/]{1,200}$/.test(kind)) {
    throw new TypeError(`The job kind "${kind}" cannot be stored: use letters, digits, _, -, . and /.`);
  }
  if (payload.search(unstorableCharacters) >= 0) {
    throw new TypeError(
      `The payload of a job of kind ${kind} contains a NUL or an unpaired surrogate, which cannot be stored.`,
    );
  }
}
