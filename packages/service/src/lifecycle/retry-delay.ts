export interface BackOff {
  /** Number of attempts made so far; 1 after the first failure. */
  readonly attempt: number;
  readonly firstMilliseconds: number;
  readonly capMilliseconds: number;
}

export interface RetryDelayOptions extends BackOff {
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
}

/** Returns the exponential backoff in milliseconds, which doubles with each attempt, from the first delay up to the cap. */
export function backOffMilliseconds({ attempt, firstMilliseconds, capMilliseconds }: BackOff): number {
  return Math.min(capMilliseconds, firstMilliseconds * 2 ** Math.min(attempt - 1, 40));
}

/**
 * Returns an exponential backoff with jitter, in milliseconds: a random delay between half of {@link
 * backOffMilliseconds} and its full value, so that many clients do not retry at the same time.
 */
export function retryDelayMilliseconds(options: RetryDelayOptions): number {
  const whole = backOffMilliseconds(options);
  return Math.round(whole / 2 + (whole / 2) * options.random());
}
