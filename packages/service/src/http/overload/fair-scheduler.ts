import type { HttpLimits } from '../../http-settings/http-limits.js';
import { endTick } from '../../lifecycle/end-of-tick.js';
import { FifoQueue } from '../../lifecycle/fifo-queue.js';
import { RoundRobinQueue } from '../../lifecycle/round-robin-queue.js';
import { ClientPauses } from './client-pauses.js';

/** Node accepts one connection per tick, so ticks of this length allow at least 100 accepted connections per second. */
const maximumTickMilliseconds = 10;
const maximumTasksPerTick = 256;
/** While other requests are queued, one in this many tasks is a poll. */
const tasksPerPoll = 4;
/**
 * libuv (`uv__io_poll`) polls sockets up to 48 times, with up to a thousand events each, before it runs immediates. If
 * a request is refused in each event, this can take more than a second. After this time, some tasks run between events.
 */
const maximumPollMilliseconds = 20;
/**
 * Number of refusals per task after that time. A task takes several times as long as a refusal. Without tasks, a retry
 * storm would starve all requests.
 */
const refusalsPerTask = 32;
/**
 * Half-life of the measured pace while ticks empty the queue, for example in a process that is only occasionally
 * overloaded.
 */
const paceHalfLifeMilliseconds = 100;
/** Number of expired entries to refuse before each task. */
const expiredRefusalsPerTask = 8;

export type SchedulerLimits = Pick<HttpLimits, 'backlogMilliseconds' | 'minimumBacklog'>;

interface ScheduleOptions {
  /** Whether the request was pipelined behind another one on its connection. */
  readonly isPipelined: boolean;
  /** Whether the request is a long poll. */
  readonly isPoll?: boolean;
  /**
   * Key of the client for fair scheduling. Clients must not be able to choose their keys, because a client with many
   * keys would get many shares.
   */
  readonly client: string;
  /** Called instead of the task if the entry has expired or is likely to. If absent, the entry never expires. */
  readonly refuse?: (() => void) | undefined;
}

interface Entry {
  readonly client: string;
  readonly task: () => void;
  readonly refuse: (() => void) | undefined;
  /** When the entry was queued, from `performance.now()`. */
  readonly since: number;
  isOver: boolean;
}

/**
 * Fair scheduler for request handlers: round-robin across clients, FIFO within one. Pipelined and first requests
 * alternate, so that one busy client cannot starve others. Long polls have lower priority: while other requests are
 * waiting, only one task in four is a poll. Yields to the event loop after 10 ms, and pauses a client whose task took
 * more than 5 ms.
 *
 * Refuses an entry immediately if its client's own queue would delay the entry by more than half of
 * `backlogMilliseconds`. The client then learns early, and the entry uses no memory. Also refuses entries that have
 * been queued for longer than `backlogMilliseconds`, if more than `minimumBacklog` entries are queued. Polls do not
 * count as queued.
 */
export class FairScheduler {
  readonly #limits: SchedulerLimits;
  readonly #first = new RoundRobinQueue<Entry>();
  readonly #pipelined = new RoundRobinQueue<Entry>();
  readonly #polls = new RoundRobinQueue<Entry>();
  /** Entries that can be refused, oldest first. The first entry is never over. */
  readonly #refusable = new FifoQueue<Entry>();
  #isFirstNext = true;
  #tasksSincePoll = 0;
  #pending = 0;
  #immediates = 0;
  #tickEndsAt: number | undefined;
  /**
   * A round lasts from the start of one tick to the start of the next. The first entry in an empty queue also starts a
   * round.
   */
  #roundStartedAt = 0;
  #begunInRound = 0;
  #refusedInRound = 0;
  /** When the first entry since the last tick was queued. */
  #pollingSince: number | undefined;
  /** Whether the last tick left entries in the queue. */
  #isBehind = false;
  readonly #pauses = new ClientPauses();
  /** The last task and its start, until the task's microtasks have run. */
  #running: { readonly client: string; readonly since: number } | undefined;
  /** Fires when the next pause ends. Set only while all clients in the queue are paused. */
  #timer: NodeJS.Timeout | undefined;
  /** Milliseconds per task, measured while ticks leave entries in the queue. At other times, the value decays. */
  #pace = 0;

  constructor(limits: SchedulerLimits) {
    this.#limits = limits;
  }

  schedule(task: () => void, { isPipelined, isPoll = false, client, refuse }: ScheduleOptions): void {
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
      const entry = { client, task, refuse, since: now, isOver: false };
      const others = isPipelined ? this.#pipelined : this.#first;
      (isPoll ? this.#polls : others).add(client, entry);
      if (refuse !== undefined) this.#refusable.add(entry);
      this.#pending += 1;
      this.#requestImmediate();
    }
  }

  get #backlog(): number {
    return this.#pending - this.#polls.count;
  }

  /**
   * Whether an entry from this client would probably be queued for too long. Half of the allowed time is reserved for
   * the work itself.
   */
  #isLikelyToExpire(client: string): boolean {
    const { backlogMilliseconds, minimumBacklog } = this.#limits;
    if (this.#backlog <= minimumBacklog) return false;
    const own = this.#first.countOf(client) + this.#pipelined.countOf(client);
    const before = Math.min(this.#backlog, own * (this.#first.clients + this.#pipelined.clients));
    return before * this.#pace > backlogMilliseconds / 2;
  }

  #startRound(now: number): void {
    const elapsed = now - this.#roundStartedAt;
    if (!this.#isBehind) this.#pace *= 0.5 ** (elapsed / paceHalfLifeMilliseconds);
    else if (this.#begunInRound > 0) {
      // A short round gets little weight, because other work may have blocked the event loop.
      const weight = this.#begunInRound / (this.#begunInRound + this.#limits.minimumBacklog);
      this.#pace += weight * (elapsed / this.#begunInRound - this.#pace);
    }
    this.#roundStartedAt = now;
    this.#begunInRound = 0;
    this.#refusedInRound = 0;
    this.#pollingSince = undefined;
  }

  /**
   * Uses two immediates per entry, because Node runs the microtasks of one immediate before the next. The second
   * immediate measures how long the task took. Work that runs later, such as a batch at the end of the tick or other
   * clients' results, is not charged to this client.
   */
  #requestImmediate(): void {
    if (this.#immediates >= Math.min(this.#pending, maximumTasksPerTick)) return;
    this.#immediates += 1;
    setImmediate(this.#onImmediate);
    setImmediate(this.#afterTask);
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
    // If all clients in the queue are paused, a timer resumes work when the next pause ends.
    if (now >= this.#tickEndsAt || this.#beginNext(now)) this.#requestImmediate();
  };

  readonly #afterTask = (): void => {
    if (this.#running === undefined) return;
    const { client, since } = this.#running;
    this.#running = undefined;
    const now = performance.now();
    this.#pauses.charge(client, now - since, now);
  };

  /** Waits until the next pause ends. New entries from other clients do not wait for that. */
  #waitForPause(now: number): void {
    if (this.#timer !== undefined || this.#pending === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#requestImmediate();
    }, this.#pauses.untilNext(now));
  }

  #runBetweenEvents(now: number): void {
    const tasks = Math.ceil(this.#refusedInRound / refusalsPerTask);
    this.#startRound(now);
    while (this.#beginNext(now)) {
      if (this.#begunInRound >= tasks || performance.now() >= now + maximumTickMilliseconds) break;
    }
    this.#running = undefined;
    endTick();
  }

  /** Begins the next entry. Returns false if no entry can begin. */
  #beginNext(now: number): boolean {
    this.#refuseExpired(now);
    const next = this.#take(now);
    if (next === undefined) {
      this.#waitForPause(now);
      return false;
    }
    this.#begunInRound += 1;
    this.#running = { client: next.client, since: now };
    this.#end(next).task();
    this.#isBehind = this.#pending > 0;
    return true;
  }

  #refuseExpired(now: number): void {
    for (let refused = 0; refused < expiredRefusalsPerTask; refused += 1) {
      const refuse = this.#takeExpired(now);
      if (refuse === undefined) return;
      refuse();
    }
  }

  #takeExpired(now: number): (() => void) | undefined {
    const { backlogMilliseconds, minimumBacklog } = this.#limits;
    const oldest = this.#refusable.first;
    if (oldest === undefined || this.#backlog <= minimumBacklog) return undefined;
    return now - oldest.since > backlogMilliseconds ? this.#end(oldest).refuse : undefined;
  }

  #end(entry: Entry): Entry {
    entry.isOver = true;
    this.#pending -= 1;
    while (this.#refusable.first?.isOver) this.#refusable.take();
    // Only refused entries are left in the queues. This call drops them.
    if (this.#pending === 0) this.#take(Number.POSITIVE_INFINITY);
    return entry;
  }

  /** Takes the next entry of a client that is not paused at `now`. */
  #take(now: number): Entry | undefined {
    const isOver = (entry: Entry): boolean => entry.isOver;
    const isPaused = (client: string): boolean => this.#pauses.has(client, now);
    const takePoll = (): Entry | undefined => {
      this.#tasksSincePoll = 0;
      return this.#polls.take(isOver, isPaused);
    };
    const poll = this.#tasksSincePoll + 1 >= tasksPerPoll ? takePoll() : undefined;
    if (poll !== undefined) return poll;
    this.#tasksSincePoll += 1;
    const [one, other] = this.#isFirstNext ? [this.#first, this.#pipelined] : [this.#pipelined, this.#first];
    const next = one.take(isOver, isPaused);
    if (next !== undefined) this.#isFirstNext = !this.#isFirstNext;
    return next ?? other.take(isOver, isPaused) ?? takePoll();
  }
}
