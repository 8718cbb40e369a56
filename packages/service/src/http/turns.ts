/**
 * Node accepts one connection in each turn of the event loop, so that how long a turn takes bounds how many others get
 * in: a hundred a second with this.
 */
const maximumTurnMilliseconds = 10;
const maximumActsPerTurn = 64;

/**
 * Begins one thing after the other, in the order in which they were asked for, and lets the sockets be looked at in
 * between. How long a thing takes includes all that follows from it without waiting for anything outside.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #scheduled = 0;
  #endsAt: number | undefined;

  begin(act: () => void): void {
    this.#waiting.push(act);
    this.#schedule();
  }

  /** One for each thing, because Node does what follows from one before it comes to the next. */
  #schedule(): void {
    if (this.#scheduled >= Math.min(this.#waiting.length, maximumActsPerTurn)) return;
    this.#scheduled += 1;
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#scheduled -= 1;
    const now = performance.now();
    if (this.#endsAt === undefined) {
      this.#endsAt = now + maximumTurnMilliseconds;
      setImmediate(() => {
        this.#endsAt = undefined;
      });
    }
    if (now < this.#endsAt) this.#waiting.shift()?.();
    this.#schedule();
  };
}
