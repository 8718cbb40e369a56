import { type Clock, RoundRobinQueue } from '@waxwing/service/lifecycle';

interface PendingSend {
  readonly notAfter: number;
  admit(isAdmitted: boolean): void;
}

/**
 * Concurrency limit with fair queuing: round-robin over senders, FIFO within one, so that one server's backlog does not
 * delay others. A queued request gives up when its deadline passes.
 */
export class SendGate {
  readonly #limit: number;
  readonly #clock: Clock;
  #underWay = 0;
  readonly #waiting = new RoundRobinQueue<PendingSend>();

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /**
   * Returns `true` at once if a slot is free. Otherwise returns a promise, which resolves to `false` if `notAfter`
   * (Unix milliseconds) passes first.
   */
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
