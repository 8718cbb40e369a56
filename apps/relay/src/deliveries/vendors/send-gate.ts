import { type Clock, RoundRobinQueue } from '@waxwing/service/lifecycle';

interface PendingSend {
  readonly sender: string;
  readonly notAfter: number;
  admit(isAdmitted: boolean): void;
}

/**
 * Concurrency limit with fair queuing: round-robin across senders, FIFO within each sender, so that one server's
 * backlog does not delay others. A queued request gives up when its deadline passes.
 */
export class SendGate {
  readonly #limit: () => number;
  readonly #clock: Clock;
  readonly #maximumWaiting: () => number;
  readonly #maximumOfSender: number;
  #underWay = 0;
  readonly #underWayOf = new Map<string, number>();
  readonly #waiting = new RoundRobinQueue<PendingSend>();

  /**
   * @param maximumWaiting Maximum number of queued requests. Further requests are refused immediately. Default: no
   * limit.
   * @param maximumOfSender Maximum number of each sender's requests in flight, and of its queued requests. Default: no
   * limit.
   */
  constructor(
    limit: number | (() => number),
    clock: Clock,
    maximumWaiting: () => number = () => Number.POSITIVE_INFINITY,
    maximumOfSender = Number.POSITIVE_INFINITY,
  ) {
    this.#limit = typeof limit === 'number' ? () => limit : limit;
    this.#clock = clock;
    this.#maximumWaiting = maximumWaiting;
    this.#maximumOfSender = maximumOfSender;
  }

  /**
   * Takes a slot and returns `true` if one is free. Otherwise queues the request and returns a promise: it resolves to
   * `true` when the request gets a slot, or to `false` if `notAfter` (Unix milliseconds) passes before that or too many
   * requests are queued.
   */
  enter(notAfter: number, sender: string): true | Promise<boolean> {
    if (this.#underWay < this.#limit() && !this.#isFull(sender)) {
      this.#begin(sender);
      return true;
    }
    const isCrowded = this.#waiting.countOf(sender) >= this.#maximumOfSender;
    if (isCrowded || this.#waiting.count >= this.#maximumWaiting()) return Promise.resolve(false);
    return new Promise((admit) => this.#waiting.add(sender, { sender, notAfter, admit }));
  }

  /** Releases the slot of a request that was admitted for this sender. */
  leave(sender: string): void {
    this.#underWay -= 1;
    const left = (this.#underWayOf.get(sender) ?? 1) - 1;
    if (left === 0) this.#underWayOf.delete(sender);
    else this.#underWayOf.set(sender, left);
    // Admit several requests if there is room, because the limit may have grown.
    while (this.#underWay < this.#limit()) {
      const next = this.#takeNext();
      if (next === undefined) return;
      this.#begin(next.sender);
      next.admit(true);
    }
  }

  #begin(sender: string): void {
    this.#underWay += 1;
    this.#underWayOf.set(sender, (this.#underWayOf.get(sender) ?? 0) + 1);
  }

  #isFull(sender: string): boolean {
    return (this.#underWayOf.get(sender) ?? 0) >= this.#maximumOfSender;
  }

  #takeNext(): PendingSend | undefined {
    const now = this.#clock();
    const isOver = (waiting: PendingSend) => {
      const isLate = now > waiting.notAfter;
      if (isLate) waiting.admit(false);
      return isLate;
    };
    return this.#waiting.take(isOver, (sender) => this.#isFull(sender));
  }
}
