import type { HttpLimits } from '../http-settings/http-limits.js';
import { FirstCome } from '../lifecycle/first-come.js';
import { SendersInTurn } from '../lifecycle/senders-in-turn.js';

/**
 * Node accepts one connection in each turn of the event loop, so that how long a turn takes bounds how many others get
 * in: a hundred a second with this.
 */
const maximumTurnMilliseconds = 10;
const maximumActsPerTurn = 256;
/**
 * So many are refused at most before the next one begins, which takes longer than they all: whoever is refused asks again,
 * and where to refuse takes all of the time that a process gets, nobody would be answered.
 */
const maximumRefusalsPerAct = 8;

type TurnLimits = Pick<HttpLimits, 'backlogMilliseconds' | 'minimumBacklog'>;

interface TurnWish {
  /** Asked for while something else of its sender was under way. */
  readonly isFollowing: boolean;
  /** For whom it asks. Whoever can choose that as they like gets as many turns as they like. */
  readonly sender: string;
  /** Called in place of the act where its turn does not come in time; it waits for however long where there is none. */
  readonly refuse?: (() => void) | undefined;
}

interface Waiting {
  readonly act: () => void;
  readonly refuse: (() => void) | undefined;
  /** By `performance.now()`. */
  readonly since: number;
  /** How many had begun before it came. */
  readonly begunBefore: number;
  isOver: boolean;
}

/**
 * Begins one thing after the other and lets the sockets be looked at in between: of all senders in turn, of one in the
 * order in which they were asked for, but those that follow others of the same sender and those that do not alternately,
 * so that nobody waits behind a crowd of senders who ask for much at once. How long a thing takes includes all that follows
 * from it without waiting for anything outside.
 *
 * What has waited for longer than `backlogMilliseconds` behind `minimumBacklog` others is refused, whoever's turn it
 * is: a sender's turn comes too seldom to empty a long line of its own in time. What would wait for so long behind others
 * of its own sender is refused without waiting for it.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #first = new SendersInTurn<Waiting>();
  readonly #following = new SendersInTurn<Waiting>();
  /** Those that may be refused, the one that has waited for longest first, which has not begun. */
  readonly #refusable = new FirstCome<Waiting>();
  /** Refusals of those that came when too many of their sender waited already. */
  readonly #tooMany = new FirstCome<() => void>();
  #isFirstNext = true;
  #waiting = 0;
  #begun = 0;
  #scheduled = 0;
  #endsAt: number | undefined;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  begin(act: () => void, { isFollowing, sender, refuse }: TurnWish): void {
    const since = performance.now();
    const most = this.#limits.backlogMilliseconds;
    if (refuse !== undefined && this.#likelyMilliseconds(sender, since) > most) this.#tooMany.add(refuse);
    else {
      const waiting = { act, refuse, since, begunBefore: this.#begun, isOver: false };
      (isFollowing ? this.#following : this.#first).add(sender, waiting);
      if (refuse !== undefined) this.#refusable.add(waiting);
      this.#waiting += 1;
    }
    this.#schedule();
  }

  /**
   * How long one more of a sender is likely to wait, by how many began since the oldest came; 0 while too few did to tell,
   * unless that is for long.
   */
  #likelyMilliseconds(sender: string, now: number): number {
    const { backlogMilliseconds, minimumBacklog } = this.#limits;
    const oldest = this.#refusable.first;
    if (oldest === undefined || this.#waiting <= minimumBacklog) return 0;
    const begun = this.#begun - oldest.begunBefore;
    const age = now - oldest.since;
    if (begun < minimumBacklog && age <= backlogMilliseconds) return 0;
    const own = this.#first.countOf(sender) + this.#following.countOf(sender);
    const before = Math.min(this.#waiting, own * (this.#first.senders + this.#following.senders));
    return (before * age) / Math.max(begun, 1);
  }

  /** One for each thing, because Node does what follows from one before it comes to the next. */
  #schedule(): void {
    const wanted = this.#waiting + this.#tooMany.count;
    if (this.#scheduled >= Math.min(wanted, maximumActsPerTurn)) return;
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
    if (now < this.#endsAt) {
      this.#refuseSome(now);
      const next = this.#take();
      if (next !== undefined) {
        this.#begun += 1;
        this.#end(next).act();
      }
    }
    this.#schedule();
  };

  #refuseSome(now: number): void {
    for (let refused = 0; refused < maximumRefusalsPerAct; refused += 1) {
      const refuse = this.#takeLate(now) ?? this.#tooMany.take();
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
