/** How many tries of one request are under way. */
export class Tries {
  #underWay = 0;
  #whenOver: (() => void) | undefined;
  /** Until when it is waited for them, by `performance.now()`. */
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

  /** Acts when none is under way any more. */
  whenOver(act: () => void): void {
    this.#whenOver = act;
  }
}

/**
 * Has requests wait for their tries, for as long as each of them may at most. One timer serves all: who began to wait
 * first has waited long enough first.
 */
export class VendorWaits {
  readonly #budgetMilliseconds: number;
  /** In the order in which they began, and how the wait for each ends. */
  readonly #waiting = new Map<Tries, () => void>();
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(budgetMilliseconds: number) {
    this.#budgetMilliseconds = budgetMilliseconds;
  }

  /** Ends when nothing is under way any more, or the budget is spent; `undefined` when there is nothing to wait for. */
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

  /** From now on nobody waits. */
  end(): void {
    this.#isOver = true;
    for (const resolve of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }

  #look(milliseconds: number): NodeJS.Timeout {
    // Whoever waits has a connection that keeps the process; this alone must not.
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
