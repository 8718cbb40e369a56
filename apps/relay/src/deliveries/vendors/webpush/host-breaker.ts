import { backOffMilliseconds, type Clock } from '@waxwing/service/lifecycle';
import type { PushServiceState } from '../vendor-sender.js';

const failuresUntilOpen = 3;
const backOff = { firstMilliseconds: 10_000, capMilliseconds: 5 * 60_000 };

/**
 * Circuit breaker of one push service. Opens after three consecutive requests without a response. While open, admits
 * one probe at a time, with backoff from 10 seconds to 5 minutes.
 */
export class HostBreaker {
  readonly #clock: Clock;
  #failures = 0;
  #probeAt = 0;
  #isProbing = false;
  #hasAnswered = false;
  /** Whether the host has answered a request and has not failed since. */
  isProven = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the last request got no response. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** Whether the breaker is open: it refuses all requests except probes. */
  get isOpen(): boolean {
    return this.#failures >= failuresUntilOpen;
  }

  /** State for operators. `unproven` hosts need no attention: a phone can name hosts that never answer. */
  get state(): PushServiceState {
    if (!this.#hasAnswered) return 'unproven';
    return this.isOpen ? 'held_back' : 'answering';
  }

  /** Whether {@link admit} would return `false` now. */
  get refuses(): boolean {
    return this.isOpen && (this.#isProbing || this.#clock() < this.#probeAt);
  }

  /**
   * Admits a request. Returns whether it may be sent now. After the request, the caller must call {@link settle} or
   * {@link release}.
   */
  admit(): boolean {
    if (this.refuses) return false;
    this.#isProbing = this.isOpen;
    return true;
  }

  /** Ends a request whose result says nothing about the host. */
  release(): void {
    this.#isProbing = false;
  }

  settle(isAnswered: boolean): void {
    // A failed request that began before the breaker opened is not new information: it must not increase the backoff.
    if (!isAnswered && this.isOpen && !this.#isProbing) return;
    this.#isProbing = false;
    this.isProven = isAnswered;
    this.#hasAnswered ||= isAnswered;
    this.#failures = isAnswered ? 0 : this.#failures + 1;
    if (!this.isOpen) return;
    const attempt = this.#failures - failuresUntilOpen + 1;
    this.#probeAt = this.#clock() + backOffMilliseconds({ attempt, ...backOff });
  }
}
