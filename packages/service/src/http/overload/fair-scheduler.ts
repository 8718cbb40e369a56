import type { HttpLimits } from '../../http-settings/http-limits.js';
import { endTick } from '../../lifecycle/end-of-tick.js';
import { FifoQueue } from '../../lifecycle/fifo-queue.js';
import { RoundRobinQueue } from '../../lifecycle/round-robin-queue.js';

/** Node accepts one connection per event-loop tick, so that the length of a tick bounds the accept rate: 100 per second. */
const maximumTickMilliseconds = 10;
const maximumActsPerTick = 256;
/**
 * libuv (`uv__io_poll`) polls sockets up to 48 times, for a thousand events each, before it runs immediates. Refusing a
 * request for each event can take longer than a second. After this time, some acts run between two events.
 */
const maximumPollMilliseconds = 20;
/** Refusals per act in that phase. An act takes several times as long; without it a retry storm would starve all acts. */
const refusalsPerAct = 32;
/** A process that is overloaded now and then has an empty queue in between. */
const paceHalfLifeMilliseconds = 100;
/** Expired entries that are refused before each act. */
const expiredRefusalsPerAct = 8;

export type SchedulerLimits = Pick<HttpLimits, 'backlogMilliseconds' | 'minimumBacklog'>;

interface ScheduleOptions {
  /** Whether the request was pipelined behind another on its connection. */
  readonly isPipelined: boolean;
  /** The key that ticks are split by. A client that could choose its keys would get as many shares as it likes. */
  readonly client: string;
  /** Called in the place of the act when the entry expires, or is likely to. Without it the entry never expires. */
  readonly refuse?: (() => void) | undefined;
}

interface Entry {
  readonly act: () => void;
  readonly refuse: (() => void) | undefined;
  /** By `performance.now()`. */
  readonly since: number;
  isOver: boolean;
}

/**
 * Fair scheduler for request handlers: round-robin across clients, FIFO within one. Pipelined and first requests alternate,
 * so that one busy client cannot starve others. Yields to the event loop after 10 ms.
 *
 * Refuses an entry at once if its client's own queue would delay it by more than half of `backlogMilliseconds`: the client
 * learns soon, and the entry takes no memory. Refuses an entry that has been queued for longer than `backlogMilliseconds`,
 * if more than `minimumBacklog` are queued.
 */
export class FairScheduler {
  readonly #limits: SchedulerLimits;
  readonly #first = new RoundRobinQueue<Entry>();
  readonly #pipelined = new RoundRobinQueue<Entry>();
  /** Entries that can be refused, oldest first. The oldest is never over. */
  readonly #refusable = new FifoQueue<Entry>();
  #isFirstNext = true;
  #pending = 0;
  #immediates = 0;
  #tickEndsAt: number | undefined;
  /** A round lasts from the start of one tick to the start of the next. A first entry in an empty queue also starts one. */
  #roundStartedAt = 0;
  #begunInRound = 0;
  #refusedInRound = 0;
  /** When the first entry after the last tick was added. */
  #pollingSince: number | undefined;
  /** Whether the last tick left entries in the queue. */
  #isBehind = false;
  /** Milliseconds per act, measured while ticks leave entries in the queue. Decays otherwise. */
  #pace = 0;

  constructor(limits: SchedulerLimits) {
    this.#limits = limits;
  }

  schedule(act: () => void, { isPipelined, client, refuse }: ScheduleOptions): void {
    const now = performance.now();
    if (this.#pending === 0) {
      this.#isBehind = false;
      this.#startRound(now);
    }
    this.#pollingSince ??= now;
    if (refuse !== undefined && this.#isLikelyToExpire(client)) {
      this.#refusedInRound += 1;
      refuse();
      if (now - this.#pollingSince >= maximumPollMilliseconds) this.#runBetweenEvents(now);
    } else {
      const entry = { act, refuse, since: now, isOver: false };
      (isPipelined ? this.#pipelined : this.#first).add(client, entry);
      if (refuse !== undefined) this.#refusable.add(entry);
      this.#pending += 1;
      this.#requestImmediate();
    }
  }

  /** Leaves half of the time for the work itself. */
  #isLikelyToExpire(client: string): boolean {
    const { backlogMilliseconds, minimumBacklog } = this.#limits;
    if (this.#pending <= minimumBacklog) return false;
    const own = this.#first.countOf(client) + this.#pipelined.countOf(client);
    const before = Math.min(this.#pending, own * (this.#first.clients + this.#pipelined.clients));
    return before * this.#pace > backlogMilliseconds / 2;
  }

  #startRound(now: number): void {
    const elapsed = now - this.#roundStartedAt;
    if (!this.#isBehind) this.#pace *= 0.5 ** (elapsed / paceHalfLifeMilliseconds);
    else if (this.#begunInRound > 0) {
      // A short round says little: something else may have blocked the event loop.
      const weight = this.#begunInRound / (this.#begunInRound + this.#limits.minimumBacklog);
      this.#pace += weight * (elapsed / this.#begunInRound - this.#pace);
    }
    this.#roundStartedAt = now;
    this.#begunInRound = 0;
    this.#refusedInRound = 0;
    this.#pollingSince = undefined;
  }

  /** One immediate per entry: Node runs the microtasks of one act before the next immediate. */
  #requestImmediate(): void {
    if (this.#immediates >= Math.min(this.#pending, maximumActsPerTick)) return;
    this.#immediates += 1;
    setImmediate(this.#onImmediate);
  }

  readonly #onImmediate = (): void => {
    this.#immediates -= 1;
    const now = performance.now();
    if (this.#tickEndsAt === undefined) {
      this.#startRound(now);
      this.#tickEndsAt = now + maximumTickMilliseconds;
      setImmediate(() => {
        this.#tickEndsAt = undefined;
      });
    }
    if (now < this.#tickEndsAt) this.#beginNext(now);
    this.#requestImmediate();
  };

  #runBetweenEvents(now: number): void {
    const acts = Math.ceil(this.#refusedInRound / refusalsPerAct);
    this.#startRound(now);
    do this.#beginNext(now);
    while (
      this.#begunInRound < acts &&
      this.#pending > 0 &&
      performance.now() < now + maximumTickMilliseconds
    );
    endTick();
  }

  #beginNext(now: number): void {
    this.#refuseExpired(now);
    const next = this.#take();
    if (next === undefined) return;
    this.#begunInRound += 1;
    this.#end(next).act();
    this.#isBehind = this.#pending > 0;
  }

  #refuseExpired(now: number): void {
    for (let refused = 0; refused < expiredRefusalsPerAct; refused += 1) {
      const refuse = this.#takeExpired(now);
      if (refuse === undefined) return;
      refuse();
    }
  }

  #takeExpired(now: number): (() => void) | undefined {
    const { backlogMilliseconds, minimumBacklog } = this.#limits;
    const oldest = this.#refusable.first;
    if (oldest === undefined || this.#pending <= minimumBacklog) return undefined;
    return now - oldest.since > backlogMilliseconds ? this.#end(oldest).refuse : undefined;
  }

  #end(entry: Entry): Entry {
    entry.isOver = true;
    this.#pending -= 1;
    while (this.#refusable.first?.isOver) this.#refusable.take();
    // Only refused entries are left: drop them.
    if (this.#pending === 0) this.#take();
    return entry;
  }

  #take(): Entry | undefined {
    while (this.#first.count + this.#pipelined.count > 0) {
      const isFirst = this.#pipelined.count === 0 || (this.#isFirstNext && this.#first.count > 0);
      const next = (isFirst ? this.#first : this.#pipelined).take(({ isOver }) => isOver);
      if (next === undefined) continue;
      this.#isFirstNext = !isFirst;
      return next;
    }
    return undefined;
  }
}
