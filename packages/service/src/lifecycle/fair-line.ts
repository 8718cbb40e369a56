/** A line in which work waits: some is done at once, and of all senders in turn, so that whoever sends much waits behind itself. */
export class FairLine {
  readonly #maximumAtOnce: number;
  readonly #waiting = new Map<string, (() => void)[]>();
  #waitingCount = 0;
  #running = 0;

  constructor(maximumAtOnce: number) {
    this.#maximumAtOnce = maximumAtOnce;
  }

  /** How much waits, of everybody. */
  get waiting(): number {
    return this.#waitingCount;
  }

  waitingOf(sender: string): number {
    return this.#waiting.get(sender)?.length ?? 0;
  }

  /** What `work` resolves or rejects with, once it has had its turn. */
  async run<Result>(sender: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#maximumAtOnce) await this.#turnOf(sender);
    else this.#running += 1;
    try {
      return await work();
    } finally {
      this.#handOn();
    }
  }

  #turnOf(sender: string): Promise<void> {
    const own = this.#waiting.get(sender) ?? [];
    this.#waitingCount += 1;
    this.#waiting.set(sender, own);
    return new Promise((begin) => void own.push(begin));
  }

  /** Gives the place to whoever waits longest of the senders whose turn it is. */
  #handOn(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    const [sender, [begin, ...others]] = next;
    this.#waiting.delete(sender);
    // Behind all the others.
    if (others.length > 0) this.#waiting.set(sender, others);
    this.#waitingCount -= 1;
    begin?.();
  }
}
