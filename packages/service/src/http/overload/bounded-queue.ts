import { FairQueue } from '../../lifecycle/fair-queue.js';
import { rateLimitHit } from './rate-limit-hit.js';

interface QueueLimits {
  readonly maximumConcurrency: number;
  readonly maximumPending: number;
  readonly maximumPendingPerClient: number;
  /** Name of the queued work in error messages, such as `sign-in`. */
  readonly what: string;
}

interface Caller {
  /** Key of the client for fair queuing, such as an address or user. */
  readonly client: string;
  /** Aborted when the caller no longer needs the result. */
  readonly signal: AbortSignal;
}

const retryAfterSeconds = 2;

/** Limits the concurrency of expensive work. The queue is bounded and fair between clients. */
export class BoundedQueue {
  readonly #queue: FairQueue;
  readonly #limits: QueueLimits;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
    this.#queue = new FairQueue(limits.maximumConcurrency);
  }

  /**
   * Runs `work` as soon as a slot is free, and returns its result. If `signal` has been aborted by then, throws the
   * signal's reason instead.
   * @throws ProtocolError RATE_LIMIT_HIT if the queue or the client's share of it is full
   */
  async run<Result>({ client, signal }: Caller, work: () => Promise<Result>): Promise<Result> {
    const { maximumPending, maximumPendingPerClient, what } = this.#limits;
    if (this.#queue.pendingOf(client) >= maximumPendingPerClient || this.#queue.pending >= maximumPending) {
      throw rateLimitHit(what, retryAfterSeconds);
    }
    return this.#queue.run(client, async () => {
      signal.throwIfAborted();
      return work();
    });
  }
}
