export interface RetryDelayOptions {
  /** Attempts made so far; 1 after the first failure. */
  readonly attempt: number;
  readonly firstMilliseconds: number;
  readonly capMilliseconds: number;
  /** A number from 0 up to, not including, 1. */
  readonly random: () => number;
}

/**
 * Milliseconds until the next attempt: doubling from the first delay up to the cap, each between half and the whole
 * of that, so that many clients that failed together do not come back together.
 */
export function retryDelayMilliseconds(options: RetryDelayOptions): number {
  const { attempt, firstMilliseconds, capMilliseconds, random } = options;
  const whole = Math.min(capMilliseconds, firstMilliseconds * 2 ** Math.min(attempt - 1, 40));
  return Math.round(whole / 2 + (whole / 2) * random());
}
