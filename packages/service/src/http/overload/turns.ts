import type { HttpLimits } from '../../http-settings/http-limits.js';
import { endTurn } from '../../lifecycle/at-end-of-turn.js';
import { FirstCome } from '../../lifecycle/first-come.js';
import { SendersInTurn } from '../../lifecycle/senders-in-turn.js';

/**
 * Node accepts one connection in each turn of the event loop, so that how long a turn takes bounds how many others get
 * in: a hundred a second with this.
 */
const maximumTurnMilliseconds = 10;
const maximumActsPerTurn = 256;
/**
 * The event loop looks at sockets up to 48 times, at a thousand each (libuv's `uv__io_poll`), before it goes on: for more
 * than a second where each of them brings a request to refuse. After so long some things begin in between.
 */
const longestWithoutTurnMilliseconds = 20;
/**
 * So many are refused then for each that begins, which takes several times as long: whoever is refused asks again, and
 * where to refuse took all of the time, nobody would be answered.
 */
const refusalsPerAct = 32;
/** A process that falls behind now and then has an empty line in between. */
const paceHalfLifeMilliseconds = 100;
/** Of what has waited for too long already, so many are refused at most before the next one begins. */
const lateRefusalsPerAct = 8;

type TurnLimits = Pick<HttpLimits, 'backlogMilliseconds' | 'minimumBacklog'>;

interface TurnWish {
  /** Asked for while something else of its sender was under way. */
  readonly isFollowing: boolean;
  /** For whom it asks. Whoever can choose that as they like gets as many turns as they like. */
  readonly sender: string;
  /**
   * Called in place of the act where its turn does not come in time, or at once where it is not likely to; it waits for
   * however long where there is none.
   */
  readonly refuse?: (() => void) | undefined;
}

interface Waiting {
  readonly act: () => void;
  readonly refuse: (() => void) | undefined;
  /** By `performance.now()`. */
  readonly since: number;
  isOver: boolean;
}

/**
 * Begins one thing after the other and lets the sockets be looked at in between: of all senders in turn, of one in the
 * order in which they were asked for, but those that follow others of the same sender and those that do not alternately,
 * so that nobody waits behind a crowd of senders who ask for much at once. How long a thing takes includes all that follows
 * from it without waiting for anything outside.
 *
 * What would wait for longer than half of `backlogMilliseconds` behind others of its own sender is refused at once: nothing
 * is kept of it, and whoever asked knows soon. What has waited for all of them, behind `minimumBacklog` others, is refused
 * whoever's turn it is: a sender's turn comes too seldom to empty a long line of its own in time.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #first = new SendersInTurn<Waiting>();
  readonly #following = new SendersInTurn<Waiting>();
  /** Those that may be refused, the one that has waited for longest first, which has not begun. */
  readonly #refusable = new FirstCome<Waiting>();
  #isFirstNext = true;
  #waiting = 0;
  #scheduled = 0;
  #endsAt: number | undefined;
  /** A round goes from the beginning of one turn to that of the next, or begins with what comes when nothing waits. */
  #roundBeganAt = 0;
  #begunInRound = 0;
  #refusedInRound = 0;
  /** Since the first that was asked for after the last turn: what followed from that is over by then. */
  #withoutTurnSince: number | undefined;
  /** Whether the last turn left something over. */
  #isBehind = false;
  /** Milliseconds for each that begins, while turns leave something over; it is forgotten by and by once they do not. */
  #pace = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  begin(act: () => void, { isFollowing, sender, refuse }: TurnWish): void {
    const now = performance.now();
    if (this.#waiting === 0) {
      this.#isBehind = false;
      this.#beginRound(now);
    }
    this.#withoutTurnSince ??= now;
    if (refuse !== undefined && this.#isLikelyLate(sender)) {
      this.#refusedInRound += 1;
      refuse();
      if (now - this.#withoutTurnSince >= longestWithoutTurnMilliseconds) this.#turnBetweenSockets(now);
    } else {
      const waiting = { act, refuse, since: now, isOver: false };
      (isFollowing ? this.#following : this.#first).add(sender, waiting);
      if (refuse !== undefined) this.#refusable.add(waiting);
      this.#waiting += 1;
      this.#schedule();
    }
  }

  /** Whether one more of a sender would wait for too long; half of the time is for the work itself. */
  #isLikelyLate(sender: string): boolean {
    const { backlogMilliseconds, minimumBacklog } = this.#limits;
    if (this.#waiting <= minimumBacklog) return false;
    const own = this.#first.countOf(sender) + this.#following.countOf(sender);
    const before = Math.min(this.#waiting, own * (this.#first.senders + this.#following.senders));
    return before * this.#pace > backlogMilliseconds / 2;
  }

  #beginRound(now: number): void {
    const elapsed = now - this.#roundBeganAt;
    if (!this.#isBehind) this.#pace *= 0.5 ** (elapsed / paceHalfLifeMilliseconds);
    else if (this.#begunInRound > 0) {
      // A round with few of them, which the loop may have been held up in, tells little.
      const weight = this.#begunInRound / (this.#begunInRound + this.#limits.minimumBacklog);
      this.#pace += weight * (elapsed / this.#begunInRound - this.#pace);
    }
    this.#roundBeganAt = now;
    this.#begunInRound = 0;
    this.#refusedInRound = 0;
    this.#withoutTurnSince = undefined;
  }

  /** One for each thing, because Node does what follows from one before it comes to the next. */
  #schedule(): void {
    if (this.#scheduled >= Math.min(this.#waiting, maximumActsPerTurn)) return;
    this.#scheduled += 1;
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#scheduled -= 1;
    const now = performance.now();
    if (this.#endsAt === undefined) {
      this.#beginRound(now);
      this.#endsAt = now + maximumTurnMilliseconds;
      setImmediate(() => {
        this.#endsAt = undefined;
      });
    }
    if (now < this.#endsAt) this.#beginNext(now);
    this.#schedule();
  };

  #turnBetweenSockets(now: number): void {
    const acts = Math.ceil(this.#refusedInRound / refusalsPerAct);
    this.#beginRound(now);
    do this.#beginNext(now);
    while (
      this.#begunInRound < acts &&
      this.#waiting > 0 &&
      performance.now() < now + maximumTurnMilliseconds
    );
    endTurn();
  }

  #beginNext(now: number): void {
    this.#refuseLate(now);
    const next = this.#take();
    if (next === undefined) return;
    this.#begunInRound += 1;
    this.#end(next).act();
    this.#isBehind = this.#waiting > 0;
  }

  #refuseLate(now: number): void {
    for (let refused = 0; refused < lateRefusalsPerAct; refused += 1) {
      const refuse = this.#takeLate(now);
      if (refuse === undefined) return;
      refuse();
    }
  }

  #takeLate(now: number): (() => void) | undefined {
    const { backlogMilliseconds, minimumBacklog } = this.#limits;
    const oldest = this.#refusable.first;
    if (oldest === undefined || this.#waiting <= minimumBacklog) return undefined;
    return now - oldest.since > backlogMilliseconds ? this.#end(oldest).refuse : undefined;
  }

  #end(waiting: Waiting): Waiting {
    waiting.isOver = true;
    this.#waiting -= 1;
    while (this.#refusable.first?.isOver) this.#refusable.take();
    // Nothing is left but what was refused.
    if (this.#waiting === 0) this.#take();
    return waiting;
  }

  #take(): Waiting | undefined {
    while (this.#first.count + this.#following.count > 0) {
      const isFirst = this.#following.count === 0 || (this.#isFirstNext && this.#first.count > 0);
      const next = (isFirst ? this.#first : this.#following).take(({ isOver }) => isOver);
      if (next === undefined) continue;
      this.#isFirstNext = !isFirst;
      return next;
    }
    return undefined;
  }
}
