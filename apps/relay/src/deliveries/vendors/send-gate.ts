import { type Clock, RoundRobinQueue } from '@waxwing/service/lifecycle';

interface Waiting {
  readonly notAfter: number;
  admit(isAdmitted: boolean): void;
}

/**
 * Lets so many requests through at once; the others wait here until it is too late for them: one of each sender in turn, so
 * that nobody's crowd delays the others, and of one sender in order.
 */
export class SendGate {
  readonly #limit: number;
  readonly #clock: Clock;
  #underWay = 0;
  readonly #waiting = new RoundRobinQueue<Waiting>();

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** True at once while there is room; otherwise a promise that is false when `notAfter` (Unix milliseconds) passed. */
  enter(notAfter: number, sender: string): true | Promise<boolean> {
    if (this.#underWay < this.#limit) {
      this.#underWay += 1;
      return true;
    }
    return new Promise((admit) => this.#waiting.add(sender, { notAfter, admit }));
  }

  leave(): void {
    const now = this.#clock();
    const next = this.#waiting.take((waiting) => {
      const isLate = now > waiting.notAfter;
      if (isLate) waiting.admit(false);
      return isLate;
    });
    if (next === undefined) this.#underWay -= 1;
    else next.admit(true);
  }
}
