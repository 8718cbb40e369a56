import { answerWithin, backOffMilliseconds } from '@waxwing/service/lifecycle';
import { withoutTrace } from '@waxwing/service/tracing';
import { DatabaseUnavailableError } from '@waxwing/storage';
import type { JobHandler, JobOutcome } from './job-queue.js';
import type { JobTables } from './job-tables.js';
import type { ClaimedJob } from './lease.js';
import { LeaseRenewal } from './lease-renewal.js';
import type { LeaseTable } from './lease-table.js';
import type { OutcomeRecorder } from './outcome-recorder.js';
import { freeSlots, isContinuation, type Running, type Work } from './work.js';

export interface JobRunnerOptions {
  readonly leases: LeaseTable;
  readonly outcomes: OutcomeRecorder;
  readonly now: () => number;
  onError(error: unknown, claim?: ClaimedJob): void;
  /** Called after each successful query for due jobs. */
  onAnswer(): void;
  /** Called before each claim. Jobs that this function enqueues can be part of the claim. */
  beforeClaim(): Promise<void>;
  /** When `beforeClaim` must run next, in Unix milliseconds. */
  nextDueAt(): number;
}

// Polling finds jobs that no signal announced: SQLite sends no signal to other processes, and a signal may be lost.
const pollMilliseconds = 1000;
const retryAfterThrow = { firstMilliseconds: 1000, capMilliseconds: 60 * 60_000 };
/** Grace period for jobs to end after `signal` was aborted. */
const abortGraceMilliseconds = 500;

/** Claims due jobs, runs them within each kind's concurrency limit, and records their outcomes. */
export class JobRunner {
  readonly renewal: LeaseRenewal;
  readonly #options: JobRunnerOptions;
  readonly #work = new Map<string, Work>();
  readonly #stopping = new AbortController();
  readonly #wanted = new Set<string>();
  #claiming: Promise<void> | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #pollAt = Number.POSITIVE_INFINITY;
  #started = false;
  #stopped: Promise<void> | undefined;
  #isAbandoned = false;

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    const { leases, now } = options;
    this.renewal = new LeaseRenewal({
      leases,
      now,
      kinds: () => [...this.#work.keys()],
      claims: () => this.#running().map(({ claim }) => claim),
      onError: (error) => options.onError(error),
    });
  }

  /** Kinds with a handler in this process. */
  get kinds(): Iterable<string> {
    return this.#work.keys();
  }

  handle(kind: string, handler: JobHandler<JobTables>): void {
    this.#work.set(kind, { handler, running: new Map() });
  }

  async start(): Promise<void> {
    await this.#options.leases.start();
    this.#started = true;
    this.renewal.start();
    this.wake();
  }

  /** Claims due jobs of these kinds (default: all) in the background. Calls during a claim are batched. */
  wake(kinds: Iterable<string> = this.#work.keys()): void {
    if (!this.#started) return;
    for (const kind of kinds) if (this.#work.has(kind)) this.#wanted.add(kind);
    if (this.#wanted.size === 0) return;
    // Runs outside any trace, because a claim covers jobs of many requests.
    this.#claiming ??= withoutTrace(() => this.#claimWanted())
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => {
        this.#claiming = undefined;
        if (this.#wanted.size > 0) this.wake([]);
      });
  }

  /** The work in flight: the current claim and the running jobs. */
  get inFlight(): readonly Promise<void>[] {
    const running = this.#running().map(({ done }) => done);
    return this.#claiming === undefined ? running : [this.#claiming, ...running];
  }

  /**
   * Implements {@link JobQueue.stop}. Idempotent: the first call sets the deadline, and later calls wait for the same
   * shutdown.
   */
  stop(deadlineMilliseconds: number): Promise<void> {
    this.#stopped ??= this.#stop(deadlineMilliseconds);
    return this.#stopped;
  }

  async #stop(deadlineMilliseconds: number): Promise<void> {
    this.#started = false;
    this.renewal.stopTakingOver();
    clearTimeout(this.#pollTimer);
    await this.#claiming;
    const deadline = performance.now() + deadlineMilliseconds;
    await answerWithin(deadlineMilliseconds, Promise.all(this.inFlight), []);
    if (this.inFlight.length > 0) {
      this.#stopping.abort();
      await answerWithin(abortGraceMilliseconds, Promise.all(this.inFlight), []);
    }
    await answerWithin(Math.max(0, deadline - performance.now()), this.renewal.stop(), undefined);
    this.#isAbandoned = true;
    await this.#release(this.#running().map(({ claim }) => claim));
  }

  #running(): Running[] {
    return [...this.#work.values()].flatMap(({ running }) => [...running.values()]);
  }

  async #claimWanted(): Promise<void> {
    // Outcomes are recorded in batches, so many jobs end in the same tick. Waiting a tick allows one claim for all free
    // slots.
    await new Promise((resolve) => setImmediate(resolve));
    const since = this.#options.now();
    const looked: string[] = [];
    try {
      await this.#options.beforeClaim();
      while (this.#wanted.size > 0 && this.#started) {
        const [kind] = this.#wanted;
        if (kind === undefined) break;
        this.#wanted.delete(kind);
        await this.#claimKind(kind);
        looked.push(kind);
      }
      this.#pollAfter(this.#untilNext(await this.#nextRunAt(looked, since)));
    } catch (error) {
      this.#wanted.clear();
      this.#pollAfter(pollMilliseconds);
      throw error;
    }
  }

  /**
   * Resolves to the time when the next job of these kinds is due. Each other kind already has a timer, or is claimed
   * when one of its running jobs ends.
   */
  async #nextRunAt(kinds: readonly string[], since: number): Promise<number | undefined> {
    // A kind without a free slot needs no timer: the next job that ends triggers a claim.
    const withRoom = kinds.filter((kind) => {
      const work = this.#work.get(kind);
      return work !== undefined && work.running.size < work.handler.concurrency;
    });
    return withRoom.length === 0 ? undefined : await this.#options.leases.nextRunAt(withRoom, since);
  }

  async #claimKind(kind: string): Promise<void> {
    const work = this.#work.get(kind);
    if (work === undefined) return;
    const free = freeSlots(work);
    if (free <= 0) return;
    const claims = await this.#options.leases.claim(kind, free);
    this.#options.onAnswer();
    for (const claim of claims) {
      const running = work.running.get(claim.job.id);
      if (running !== undefined && isContinuation(running, claim)) {
        running.claim = claim;
        this.#wanted.add(kind);
      } else {
        this.#begin(kind, work, claim);
      }
    }
  }

  #begin(kind: string, work: Work, claim: ClaimedJob): void {
    const { handler, running } = work;
    const own: Running = { claim, isEnding: false, done: Promise.resolve() };
    running.set(claim.job.id, own);
    own.done = this.#attempt(handler, own).then((next) => {
      // If the job was put back and claimed again in the meantime, the entry belongs to the new run.
      if (running.get(claim.job.id) === own) running.delete(claim.job.id);
      if (next !== undefined) this.#begin(kind, work, next);
      this.wake([kind]);
    });
  }

  #untilNext(nextRunAt = Number.POSITIVE_INFINITY): number {
    const next = Math.min(nextRunAt, this.#options.nextDueAt());
    return Math.min(pollMilliseconds, Math.max(1, next - this.#options.now()));
  }

  /** Schedules a claim of all kinds, unless an earlier claim is scheduled. */
  #pollAfter(milliseconds: number): void {
    const at = performance.now() + milliseconds;
    if (!this.#started || at >= this.#pollAt) return;
    clearTimeout(this.#pollTimer);
    this.#pollAt = at;
    this.#pollTimer = setTimeout(() => {
      this.#pollAt = Number.POSITIVE_INFINITY;
      this.wake();
    }, milliseconds);
    this.#pollTimer.unref();
  }

  /**
   * Runs one attempt and records its outcome. Resolves to the claim of the next attempt if that claim arrived early and
   * was mistaken for a continuation of this attempt. The caller then runs the next attempt.
   */
  async #attempt(handler: JobHandler<JobTables>, own: Running): Promise<ClaimedJob | undefined> {
    const begun = own.claim;
    try {
      const outcome = await this.#outcomeOf(handler, begun);
      // The job's lease was released at shutdown, so another process runs the job again: record nothing.
      if (this.#isAbandoned) return undefined;
      if (outcome === 'handed-back') {
        await this.#release([own.claim]);
        return undefined;
      }
      own.isEnding = true;
      const recorded = this.#record(own, outcome);
      // Wakes now, so that the next claim shares the commit that records this outcome.
      this.wake([begun.job.kind]);
      return await recorded;
    } catch (error) {
      this.#options.onError(error, begun);
      await this.#retryUnrecorded(own.claim);
      return undefined;
    }
  }

  /**
   * Records the outcome. Retries while the database is unavailable, because running the job again would repeat its
   * effects. Resolves to the claim of the next attempt if the job was rescheduled and claimed again before this process
   * learned of it.
   */
  async #record(own: Running, outcome: JobOutcome<JobTables>): Promise<ClaimedJob | undefined> {
    for (;;) {
      const recorded = own.claim;
      try {
        const isSettled = await this.#options.outcomes.record(recorded, outcome);
        if (recorded === own.claim) return undefined;
        if (isSettled) return own.claim;
      } catch (error) {
        if (!(error instanceof DatabaseUnavailableError) || !this.#started) throw error;
        this.#options.onError(error);
        // If the lease expires during the wait, this run can continue under a new lease.
        own.isEnding = false;
        await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
      }
    }
  }

  async #outcomeOf(
    handler: JobHandler<JobTables>,
    claim: ClaimedJob,
  ): Promise<JobOutcome<JobTables> | 'handed-back'> {
    const { job, lastReason } = claim;
    if (this.#options.now() >= job.giveUpAt) {
      const reason = lastReason ?? 'it was never attempted';
      return { kind: 'dead', reason: `given up: ${reason}`, apply: handler.giveUp(job, reason) };
    }
    try {
      return await handler.run(job, this.#stopping.signal);
    } catch (error) {
      if (this.#stopping.signal.aborted) return 'handed-back';
      this.#options.onError(error, claim);
      return { kind: 'retry', at: this.#afterThrow(claim), reason: 'internal error' };
    }
  }

  /** Schedules a retry of an attempt whose outcome or `apply` could not be committed. */
  async #retryUnrecorded(claim: ClaimedJob): Promise<void> {
    try {
      const reason = 'the outcome could not be recorded';
      await this.#options.outcomes.record(claim, { kind: 'retry', at: this.#afterThrow(claim), reason });
    } catch (error) {
      // The lease will expire and the job will run again (at-least-once).
      this.#options.onError(error, claim);
    }
  }

  #afterThrow({ job }: ClaimedJob): number {
    return this.#options.now() + backOffMilliseconds({ attempt: job.attempt, ...retryAfterThrow });
  }

  async #release(claims: readonly ClaimedJob[]): Promise<void> {
    if (claims.length === 0) return;
    try {
      await this.#options.leases.release(claims);
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
