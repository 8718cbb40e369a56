import { RoundRobinQueue } from './round-robin-queue.js';

/** Limits concurrency and queues further calls, round-robin across clients and FIFO within a client. */
export class FairQueue {
  readonly #maximumConcurrency: number;
  readonly #pending = new RoundRobinQueue<() => void>();
  #running = 0;

  constructor(maximumConcurrency: number) {
    this.#maximumConcurrency = maximumConcurrency;
  }

  /** Number of queued calls across all clients. Running calls do not count. */
  get pending(): number {
    return this.#pending.count;
  }

  pendingOf(client: string): number {
    return this.#pending.countOf(client);
  }

  /** Runs `work` as soon as a slot is free, and returns its result. @throws the rejection of `work`. */
  async run<Result>(client: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#maximumConcurrency) this.#running += 1;
    else await new Promise<void>((begin) => this.#pending.add(client, begin));
    try {
      return await work();
    } finally {
      this.#releaseSlot();
    }
  }

  #releaseSlot(): void {
    const begin = this.#pending.take();
    if (begin === undefined) this.#running -= 1;
    else begin();
  }
}
