/** Counter of one request's attempts in flight. */
export class Tries {
  #underWay = 0;
  #whenOver: (() => void) | undefined;
  /** When to stop waiting, in milliseconds of `performance.now()`. */
  waitsUntil = 0;

  get underWay(): number {
    return this.#underWay;
  }

  begin(): void {
    this.#underWay += 1;
  }

  end(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#whenOver?.();
  }

  /** Calls `act` when no attempt is in flight. */
  whenOver(act: () => void): void {
    this.#whenOver = act;
  }
}

/**
 * Makes each request wait for its attempts, up to a fixed time budget. One timer is enough: the budget is the same for
 * all requests, so deadlines expire in order of arrival.
 */
export class VendorDeadlines {
  readonly #budgetMilliseconds: number;
  /** Waiting requests in order of arrival, each with the function that ends its wait. */
  readonly #waiting = new Map<Tries, () => void>();
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(budgetMilliseconds: number) {
    this.#budgetMilliseconds = budgetMilliseconds;
  }

  /** Waits until no attempt is in flight or the budget is spent. Returns `undefined` if no wait is necessary. */
  wait(tries: Tries): Promise<void> | undefined {
    if (tries.underWay === 0 || this.#isOver) return undefined;
    return new Promise((resolve) => {
      tries.waitsUntil = performance.now() + this.#budgetMilliseconds;
      this.#waiting.set(tries, resolve);
      tries.whenOver(() => {
        this.#waiting.delete(tries);
        resolve();
      });
      this.#timer ??= this.#look(this.#budgetMilliseconds);
    });
  }

  /** Ends all waits. Later calls to {@link wait} do not wait. */
  end(): void {
    this.#isOver = true;
    for (const resolve of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }

  #look(milliseconds: number): NodeJS.Timeout {
    // `unref`: the timer must not keep the process alive. A waiting request's connection does that.
    return setTimeout(() => {
      this.#timer = undefined;
      const now = performance.now();
      for (const [tries, resolve] of this.#waiting) {
        if (tries.waitsUntil > now) {
          this.#timer = this.#look(tries.waitsUntil - now);
          return;
        }
        this.#waiting.delete(tries);
        resolve();
      }
    }, milliseconds).unref();
  }
}
