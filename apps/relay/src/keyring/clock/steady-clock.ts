import type { Clock } from '@waxwing/service/lifecycle';

const hourMilliseconds = 3_600_000;

/**
 * Wall clock that ignores a forward jump of more than an hour until the new time has persisted for an hour. Until then,
 * it continues from the time before the jump. Otherwise a momentarily wrong clock could retire every accepted key, and
 * destroyed keys cannot be restored. Backward jumps apply immediately, because they do not destroy any keys.
 */
export class SteadyClock {
  readonly #clock: Clock;
  readonly #monotonic: Clock;
  #last: { wall: number; monotonic: number };
  #doubt: { lead: number; since: number } | undefined;

  /** @param monotonic clock in milliseconds, unaffected by changes to the system time. */
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

  /** Milliseconds by which the wall clock is ahead of the trusted time; 0 if it is trusted. */
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
