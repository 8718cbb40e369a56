import { SendersInTurn } from './senders-in-turn.js';

/**
 * A line in which work waits: some is done at once, and of all senders in turn, so that whoever sends much waits behind
 * itself.
 */
export class FairLine {
  readonly #maximumAtOnce: number;
  readonly #waiting = new SendersInTurn<() => void>();
  #running = 0;

  constructor(maximumAtOnce: number) {
    this.#maximumAtOnce = maximumAtOnce;
  }

  /** How much waits, of everybody. */
  get waiting(): number {
    return this.#waiting.count;
  }

  waitingOf(sender: string): number {
    return this.#waiting.countOf(sender);
  }

  /** What `work` resolves or rejects with, once it has had its turn. */
  async run<Result>(sender: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#maximumAtOnce) this.#running += 1;
    else await new Promise<void>((begin) => this.#waiting.add(sender, begin));
    try {
      return await work();
    } finally {
      this.#handOn();
    }
  }

  #handOn(): void {
    const begin = this.#waiting.take();
    if (begin === undefined) this.#running -= 1;
    else begin();
  }
}
