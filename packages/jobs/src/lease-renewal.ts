import { type ClaimedJob, leaseMilliseconds, renewalMilliseconds } from './lease.js';
import type { LeaseTable } from './lease-table.js';

export interface LeaseRenewalOptions {
  readonly leases: LeaseTable;
  readonly now: () => number;
  /** The kinds of jobs that are handled here. */
  kinds(): readonly string[];
  /** What this process runs now. */
  claims(): readonly ClaimedJob[];
  onError(error: unknown): void;
}

/** Renews the leases of what runs here, and takes over those that nobody renews. */
export class LeaseRenewal {
  readonly #options: LeaseRenewalOptions;
  /** Those under way: the database may take longer for one than it is until the next. */
  readonly #underWay = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #takesOver = false;
  /** When the database was last known to answer, by a clock that is never set. */
  #lastAnswerAt = performance.now();

  constructor(options: LeaseRenewalOptions) {
    this.#options = options;
  }

  start(): void {
    this.#takesOver = true;
    this.#timer = setInterval(() => this.#begin(), renewalMilliseconds);
    this.#timer.unref();
  }

  async renew(): Promise<void> {
    const claims = this.#options.claims();
    if (claims.length > 0) await this.#options.leases.renew(claims);
  }

  /** From now on it renews only what runs here. */
  takeOverNoMore(): void {
    this.#takesOver = false;
  }

  /** Begins no further renewal. Resolves when none is under way. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
  }

  #begin(): void {
    const renewal = this.#renewOrTakeOver().finally(() => this.#underWay.delete(renewal));
    this.#underWay.add(renewal);
  }

  async #renewOrTakeOver(): Promise<void> {
    const { leases, now, kinds, onError } = this.#options;
    try {
      await this.renew();
      // After an outage every lease looks abandoned; their owners get until the next time to renew them first.
      const wasAway = performance.now() - this.#lastAnswerAt > leaseMilliseconds / 2;
      if (wasAway) await leases.nextRunAt(kinds(), now());
      else if (this.#takesOver) await leases.takeOver();
      this.#lastAnswerAt = performance.now();
    } catch (error) {
      onError(error);
    }
  }
}
