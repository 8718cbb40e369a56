import type { Clock } from '@waxwing/service/lifecycle';

interface Waiting {
  readonly notAfter: number;
  admit(isAdmitted: boolean): void;
}

/** Lets so many requests through at once; the others wait here, in order, until it is too late for them. */
export class SendGate {
  readonly #limit: number;
  readonly #clock: Clock;
  #underWay = 0;
  #waiting: Waiting[] = [];
  #first = 0;

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** True at once while there is room; otherwise a promise that is false when `notAfter` (Unix milliseconds) passed. */
  enter(notAfter: number): true | Promise<boolean> {
    if (this.#underWay < this.#limit) {
      this.#underWay += 1;
      return true;
    }
    return new Promise((admit) => this.#waiting.push({ notAfter, admit }));
  }

  leave(): void {
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      const isInTime = this.#clock() <= next.notAfter;
      next.admit(isInTime);
      if (isInTime) return;
    }
    this.#underWay -= 1;
  }

  #take(): Waiting | undefined {
    const next = this.#waiting[this.#first];
    if (next === undefined) return undefined;
    this.#first += 1;
    if (this.#first >= 1024 || this.#first === this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#first);
      this.#first = 0;
    }
    return next;
  }
}
