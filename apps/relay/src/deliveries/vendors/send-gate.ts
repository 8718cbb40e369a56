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
  readonly #limit: () => number;
  readonly #clock: Clock;
  readonly #maximumWaiting: () => number;
  #underWay = 0;
  readonly #waiting = new RoundRobinQueue<PendingSend>();

  /** @param maximumWaiting Further requests are refused at once. Default: no limit. */
  constructor(
    limit: number | (() => number),
    clock: Clock,
    maximumWaiting: () => number = () => Number.POSITIVE_INFINITY,
  ) {
    this.#limit = typeof limit === 'number' ? () => limit : limit;
    this.#clock = clock;
    this.#maximumWaiting = maximumWaiting;
  }

  /**
   * Returns `true` at once if a slot is free. Otherwise returns a promise, which resolves to `false` if `notAfter`
   * (Unix milliseconds) passes first, or too many requests are waiting.
   */
  enter(notAfter: number, sender: string): true | Promise<boolean> {
    if (this.#underWay < this.#limit()) {
      this.#underWay += 1;
      return true;
    }
    if (this.#waiting.count >= this.#maximumWaiting()) return Promise.resolve(false);
    return new Promise((admit) => this.#waiting.add(sender, { notAfter, admit }));
  }

  leave(): void {
    this.#underWay -= 1;
    // More than one, because the limit may have grown.
    while (this.#underWay < this.#limit()) {
      const next = this.#takeNext();
      if (next === undefined) return;
      this.#underWay += 1;
      next.admit(true);
    }
  }

  #takeNext(): PendingSend | undefined {
    const now = this.#clock();
    return this.#waiting.take((waiting) => {
      const isLate = now > waiting.notAfter;
      if (isLate) waiting.admit(false);
      return isLate;
    });
  }
}
