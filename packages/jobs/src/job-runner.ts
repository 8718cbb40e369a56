import { answerWithin, backOffMilliseconds } from '@waxwing/service/lifecycle';
import type { JobHandler, JobOutcome } from './job-queue.js';
import type { JobTables } from './job-tables.js';
import type { ClaimedJob } from './lease.js';
import { LeaseRenewal } from './lease-renewal.js';
import type { LeaseTable } from './lease-table.js';
import type { OutcomeRecorder } from './outcome-recorder.js';

export interface JobRunnerOptions {
  readonly leases: LeaseTable;
  readonly outcomes: OutcomeRecorder;
  readonly now: () => number;
  onError(error: unknown, claim?: ClaimedJob): void;
  /** The database has told which jobs are due. */
  onAnswer(): void;
  /** Called before jobs are looked for, so that what is due at that moment is among them. */
  beforeClaim(): Promise<void>;
  /** When `beforeClaim` has something to do next, in Unix milliseconds. */
  nextDueAt(): number;
}

interface Work {
  readonly handler: JobHandler<JobTables>;
  /** By the job's id. */
  readonly running: Map<string, Running>;
}

interface Running {
  claim: ClaimedJob;
  /** Whether it has run and only its outcome is still to be recorded: its place is free already. */
  isEnding: boolean;
  done: Promise<void>;
}

// Backstop for what no signal tells: another process's command line on SQLite, or a signal that was lost.
const pollMilliseconds = 1000;
const retryAfterThrow = { firstMilliseconds: 1000, capMilliseconds: 60 * 60_000 };
/** How long an aborted job may take to notice. */
const abortGraceMilliseconds = 500;

/** Claims due jobs, runs them, and has their outcomes recorded. */
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

  /** The kinds that are handled here. */
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

  /** Looks for due jobs of these kinds, or of all. */
  wake(kinds: Iterable<string> = this.#work.keys()): void {
    if (!this.#started) return;
    for (const kind of kinds) if (this.#work.has(kind)) this.#wanted.add(kind);
    if (this.#wanted.size === 0) return;
    this.#claiming ??= this.#claimWanted()
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => {
        this.#claiming = undefined;
        if (this.#wanted.size > 0) this.wake([]);
      });
  }

  /** What ends by itself: the look for jobs, and the jobs that run. */
  get underWay(): readonly Promise<void>[] {
    const running = this.#running().map(({ done }) => done);
    return this.#claiming === undefined ? running : [this.#claiming, ...running];
  }

  /** The first call decides about the deadline; later ones wait for it. */
  stop(deadlineMilliseconds: number): Promise<void> {
    this.#stopped ??= this.#stop(deadlineMilliseconds);
    return this.#stopped;
  }

  async #stop(deadlineMilliseconds: number): Promise<void> {
    this.#started = false;
    this.renewal.takeOverNoMore();
    clearTimeout(this.#pollTimer);
    await this.#claiming;
    const deadline = performance.now() + deadlineMilliseconds;
    await answerWithin(deadlineMilliseconds, Promise.all(this.underWay), []);
    if (this.underWay.length > 0) {
      this.#stopping.abort();
      await answerWithin(abortGraceMilliseconds, Promise.all(this.underWay), []);
    }
    await answerWithin(Math.max(0, deadline - performance.now()), this.renewal.stop(), undefined);
    this.#isAbandoned = true;
    await this.#release(this.#running().map(({ claim }) => claim));
  }

  #running(): Running[] {
    return [...this.#work.values()].flatMap(({ running }) => [...running.values()]);
  }

  async #claimWanted(): Promise<void> {
    // Jobs end in bunches, as they are recorded together: claim once for all of them.
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

  /** Of these kinds alone: that of the others is planned already, or looked for when a job of theirs ends. */
  async #nextRunAt(kinds: readonly string[], since: number): Promise<number | undefined> {
    // What has no room, and what was due before, waits for a free place: a job that ends looks for the next one.
    const withRoom = kinds.filter((kind) => {
      const work = this.#work.get(kind);
      return work !== undefined && work.running.size < work.handler.concurrency;
    });
    return withRoom.length === 0 ? undefined : await this.#options.leases.nextRunAt(withRoom, since);
  }

  async #claimKind(kind: string): Promise<void> {
    const work = this.#work.get(kind);
    if (work === undefined) return;
    const free = roomOf(work);
    if (free <= 0) return;
    const claims = await this.#options.leases.claim(kind, free);
    this.#options.onAnswer();
    for (const claim of claims) {
      const running = work.running.get(claim.job.id);
      if (running === undefined || running.isEnding) {
        this.#begin(kind, work, claim);
        continue;
      }
      // Its lease ran out here (the clock was set forward, say): it goes on under the new one.
      running.claim = claim;
      this.#wanted.add(kind);
    }
  }

  #begin(kind: string, { handler, running }: Work, claim: ClaimedJob): void {
    const own: Running = { claim, isEnding: false, done: Promise.resolve() };
    running.set(claim.job.id, own);
    own.done = this.#attempt(handler, own).finally(() => {
      // It may have been put back and claimed again since.
      if (running.get(claim.job.id) === own) running.delete(claim.job.id);
      this.wake([kind]);
    });
  }

  #untilNext(nextRunAt = Number.POSITIVE_INFINITY): number {
    const next = Math.min(nextRunAt, this.#options.nextDueAt());
    return Math.min(pollMilliseconds, Math.max(1, next - this.#options.now()));
  }

  /** Looks at all kinds after that time, or when that was planned already if it is sooner. */
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

  async #attempt(handler: JobHandler<JobTables>, own: Running): Promise<void> {
    const begun = own.claim;
    try {
      const outcome = await this.#outcomeOf(handler, begun);
      // Its lease is given up already: somebody else does it again.
      if (this.#isAbandoned) return;
      if (outcome === 'handed-back') {
        await this.#release([own.claim]);
        return;
      }
      own.isEnding = true;
      const recorded = this.#options.outcomes.record(own.claim, outcome);
      // Whatever takes its place is claimed in the commit that records it.
      this.wake([begun.job.kind]);
      await recorded;
    } catch (error) {
      this.#options.onError(error, begun);
      await this.#retryUnrecorded(own.claim);
    }
  }

  async #outcomeOf(
    handler: JobHandler<JobTables>,
    claim: ClaimedJob,
  ): Promise<JobOutcome<JobTables> | 'handed-back'> {
    const { job, lastReason } = claim;
    if (this.#options.now() >= job.giveUpAt) {
      const reason = lastReason ?? 'it was never tried';
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

  /** The outcome could not be written with what belongs to it: the attempt is done again later. */
  async #retryUnrecorded(claim: ClaimedJob): Promise<void> {
    try {
      const reason = 'the outcome could not be recorded';
      await this.#options.outcomes.record(claim, { kind: 'retry', at: this.#afterThrow(claim), reason });
    } catch (error) {
      // The lease runs out and the job is done again: at least once, as promised.
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

/** How many more jobs may run: those that are ending leave their places, until as many of them are still unrecorded. */
function roomOf({ handler, running }: Work): number {
  let free = handler.concurrency;
  for (const { isEnding } of running.values()) if (!isEnding) free -= 1;
  return Math.min(free, 2 * handler.concurrency - running.size);
}
