import { performance } from 'node:perf_hooks';
import type { ProtocolError } from '@waxwing/protocol';
import type { HttpLimits } from '../../http-settings/http-limits.js';
import { unavailable } from '../error-answer.js';
import type { Exchange } from '../exchange.js';
import { EqualParts } from './equal-parts.js';

export interface BacklogOptions {
  readonly limits: Pick<HttpLimits, 'backlogMilliseconds' | 'minimumBacklog'>;
  /** How long vendors, say, take is part of how long an answer does: such work is refused only when this process is busy. */
  readonly waitsForOthers: boolean;
  /** Whether this process had hardly a moment without work of late. */
  readonly isProcessBusy: () => boolean;
  /** Told of each request that is refused. */
  readonly onOverload: () => void;
}

const windowMilliseconds = 500;
/** What is left of the greatest rate after each window in which fewer were answered: stalls are part of the work. */
const rateDecay = 0.8;

/**
 * The requests of one operation that are worked on. It grows without harm while they are answered in time. When the
 * oldest has waited for longer, and no other was answered in time lately, only as many are let in as are answered in that
 * time by the rate of late, which is Little's law (how many there are is their rate times how long each stays); and of
 * those who ask, each an equal part. That all of a time were late, and not how long the line is, tells overload, as in
 * CoDel (RFC 8289).
 */
export class Backlog {
  readonly #options: BacklogOptions;
  /** Those that wait for nobody outside, in the order in which they came, or went on after a pause. */
  readonly #working = new Set<Work>();
  /** By where they come from: those whose sender is not known yet. */
  readonly #unnamed = new EqualParts();
  /** By sender. */
  readonly #admitted = new EqualParts();
  #lastInTimeAt = performance.now();
  #windowStartedAt = performance.now();
  #answeredInWindow = 0;
  /** The most answers each millisecond that a window of late had. */
  #perMillisecond = 0;

  constructor(options: BacklogOptions) {
    this.#options = options;
  }

  /**
   * Counts a request until its work ends, or it is over before that begins.
   * @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After where as many are still to be authenticated as could be
   * answered in time, and as many as is its part of where it comes from. Those count for no part of who is known.
   */
  enter(exchange: Exchange): Work {
    const now = performance.now();
    if (this.#isLate(now) && !this.#unnamed.hasRoom(exchange.sender, this.#most(now))) throw this.#refusal();
    this.#unnamed.add(exchange.sender);
    const work = new Work(exchange, this);
    this.#working.add(work);
    exchange.whenOver(() => work.leave());
    return work;
  }

  /**
   * @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After where the sender has its part of what can be answered in
   * time.
   */
  admit(work: Work, sender: string): void {
    const now = performance.now();
    if (this.#isLate(now) && !this.#admitted.hasRoom(sender, this.#most(now))) {
      work.end();
      throw this.#refusal();
    }
    this.#unnamed.remove(work.origin);
    this.#admitted.add(sender);
    work.sender = sender;
  }

  pause(work: Work): void {
    this.#working.delete(work);
  }

  resume(work: Work): void {
    this.#working.add(work);
  }

  answered({ startedAt }: Work): void {
    const now = performance.now();
    this.#look(now);
    this.#answeredInWindow += 1;
    if (now - startedAt <= this.#options.limits.backlogMilliseconds) this.#lastInTimeAt = now;
  }

  leave(work: Work): void {
    this.#working.delete(work);
    if (work.sender === undefined) this.#unnamed.remove(work.origin);
    else this.#admitted.remove(work.sender);
  }

  #isLate(now: number): boolean {
    const { isProcessBusy, limits, waitsForOthers } = this.#options;
    if (this.#unnamed.count + this.#admitted.count < limits.minimumBacklog) return false;
    // One that went on after a pause may be older, by what it took before that.
    const [oldest] = this.#working;
    const since = now - limits.backlogMilliseconds;
    if (oldest === undefined || oldest.startedAt > since || this.#lastInTimeAt > since) return false;
    return !waitsForOthers || isProcessBusy();
  }

  /** How many are answered in time, by the rate of late. */
  #most(now: number): number {
    this.#look(now);
    const { backlogMilliseconds, minimumBacklog } = this.#options.limits;
    return Math.max(minimumBacklog, this.#perMillisecond * backlogMilliseconds);
  }

  #look(now: number): void {
    const elapsed = now - this.#windowStartedAt;
    if (elapsed < windowMilliseconds) return;
    const left = this.#perMillisecond * rateDecay ** (elapsed / windowMilliseconds);
    this.#perMillisecond = Math.max(this.#answeredInWindow / elapsed, left);
    this.#windowStartedAt = now;
    this.#answeredInWindow = 0;
  }

  #refusal(): ProtocolError {
    this.#options.onOverload();
    return unavailable();
  }
}

/** One request of a backlog. */
export class Work {
  /** Where it comes from. */
  readonly origin: string;
  /** `undefined` until it is admitted. */
  sender: string | undefined;
  #startedAt: number;
  #pausedAt: number | undefined;
  #hasBegun = false;
  #isOver = false;
  readonly #backlog: Backlog;

  constructor(exchange: Exchange, backlog: Backlog) {
    this.origin = exchange.sender;
    this.#startedAt = exchange.receivedAt;
    this.#backlog = backlog;
  }

  /** When it came, and later by the time for which it was paused. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After where the sender has its part already. */
  admit(sender: string): void {
    if (!this.#isOver) this.#backlog.admit(this, sender);
  }

  /** While its requester has still to send something. */
  pause(): void {
    this.#pausedAt = performance.now();
    this.#backlog.pause(this);
  }

  resume(): void {
    this.#hasBegun = true;
    if (this.#pausedAt === undefined || this.#isOver) return;
    this.#startedAt += performance.now() - this.#pausedAt;
    this.#pausedAt = undefined;
    this.#backlog.resume(this);
  }

  /** Its requester is gone: what has begun goes on until its end all the same. */
  leave(): void {
    if (!this.#hasBegun) this.end();
  }

  /** It succeeded, or was refused for what it asks. */
  answered(): void {
    this.#backlog.answered(this);
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#backlog.leave(this);
  }
}
