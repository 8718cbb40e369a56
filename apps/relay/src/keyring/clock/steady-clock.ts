import type { Clock } from '@waxwing/service/lifecycle';

const hourMilliseconds = 3_600_000;

/**
 * Wall time that does not believe a jump forward of more than an hour until it has lasted an hour: a clock that was set
 * wrong for a moment would otherwise retire every accepted key, and a destroyed key does not come back. Until then time
 * goes on from before the jump. Steps backward are believed at once, since nothing is destroyed by them.
 */
export class SteadyClock {
  readonly #clock: Clock;
  readonly #monotonic: Clock;
  #last: { wall: number; monotonic: number };
  #doubt: { lead: number; since: number } | undefined;

  /** `monotonic` counts milliseconds and is never set. */
  constructor(clock: Clock, monotonic: Clock) {
    this.#clock = clock;
    this.#monotonic = monotonic;
    this.#last = { wall: clock(), monotonic: monotonic() };
  }

  /** Unix milliseconds. */
  now(): number {
    const wall = this.#clock();
    const monotonic = this.#monotonic();
    const expected = this.#last.wall + (monotonic - this.#last.monotonic);
    const lead = wall - expected;
    if (lead <= hourMilliseconds) return this.#believe(wall, monotonic);
    if (this.#doubt === undefined || Math.abs(lead - this.#doubt.lead) > hourMilliseconds) {
      this.#doubt = { lead, since: monotonic };
    }
    return monotonic - this.#doubt.since >= hourMilliseconds ? this.#believe(wall, monotonic) : expected;
  }

  /** By how many milliseconds the wall clock runs ahead of what is believed; 0 when it is believed. */
  get doubtedMilliseconds(): number {
    this.now();
    return this.#doubt?.lead ?? 0;
  }

  #believe(wall: number, monotonic: number): number {
    this.#last = { wall, monotonic };
    this.#doubt = undefined;
    return wall;
  }
}
