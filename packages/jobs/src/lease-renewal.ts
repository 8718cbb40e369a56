import { type ClaimedJob, leaseMilliseconds, renewalMilliseconds } from './lease.js';
import type { LeaseTable } from './lease-table.js';

export interface LeaseRenewalOptions {
  readonly leases: LeaseTable;
  readonly now: () => number;
  /** The kinds that have a handler in this process. */
  kinds(): readonly string[];
  /** The jobs that are running in this process. */
  claims(): readonly ClaimedJob[];
  onError(error: unknown): void;
}

/** Renews the leases of this process's jobs every five seconds, and takes over expired leases. */
export class LeaseRenewal {
  readonly #options: LeaseRenewalOptions;
  /** Renewals in flight. If the database is slow, two rounds can overlap. */
  readonly #inFlight = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #takesOver = false;
  /** When the database last replied, on the monotonic clock. */
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

  /** Stops takeovers. Renewals continue. */
  stopTakingOver(): void {
    this.#takesOver = false;
  }

  /** Starts no further renewal. Resolves once no renewal is in flight. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#inFlight);
  }

  #begin(): void {
    const renewal = this.#renewOrTakeOver().finally(() => this.#inFlight.delete(renewal));
    this.#inFlight.add(renewal);
  }

  async #renewOrTakeOver(): Promise<void> {
    const { leases, now, kinds, onError } = this.#options;
    try {
      await this.renew();
      // After an outage every lease looks expired. Skip one round, so that the owners can renew their leases first.
      const wasAway = performance.now() - this.#lastAnswerAt > leaseMilliseconds / 2;
      if (wasAway) await leases.nextRunAt(kinds(), now());
      else if (this.#takesOver) await leases.takeOver();
      this.#lastAnswerAt = performance.now();
    } catch (error) {
      onError(error);
    }
  }
}
