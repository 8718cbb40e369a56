/** Long polls by lane. A new request in a lane replaces the older one, whose handler then returns immediately. */
export class Lanes {
  readonly #closing: AbortSignal | undefined;
  readonly #running = new Map<string, AbortController>();

  /** @param closing aborts all long polls. */
  constructor(closing: AbortSignal | undefined) {
    this.#closing = closing;
    closing?.addEventListener('abort', () => {
      for (const running of this.#running.values()) running.abort();
    });
  }

  /** Runs `work` with a signal that is aborted when the next request enters the lane, or when `signal` is aborted. */
  async run<Result>(
    lane: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    this.#running.get(lane)?.abort();
    const replaced = new AbortController();
    this.#running.set(lane, replaced);
    if (this.#closing?.aborted) replaced.abort();
    try {
      return await work(AbortSignal.any([signal, replaced.signal]));
    } finally {
      if (this.#running.get(lane) === replaced) this.#running.delete(lane);
    }
  }
}
