/** Returns Unix milliseconds, like `Date.now`. */
export type PhoneClock = () => number;

/**
 * Estimates the server's clock from the device's clock and the `Date` headers of responses (RFC 9110 section 6.6.1).
 * The server can claim any time, so `timeToFollow` decides how far to trust the estimate.
 */
export interface ServerClock {
  /**
   * Records a response's `Date` header. Ignores `null` and invalid dates. Times are in milliseconds according to the
   * device's clock.
   */
  learn(dateHeader: string | null, requestSentAt: number, answerReceivedAt: number): void;
  /**
   * Returns Unix milliseconds according to the server's clock, or according to the device's clock before the first
   * response.
   */
  now(): number;
}

// The header is truncated to seconds, so the middle of that second is the best estimate.
const halfSecondMilliseconds = 500;

/** Creates a server clock that equals the device's clock until it learns a `Date` header. */
export function createServerClock(deviceClock: PhoneClock): ServerClock {
  let offsetMilliseconds = 0;
  return {
    learn(dateHeader, requestSentAt, answerReceivedAt) {
      const serverTime = dateHeader === null ? Number.NaN : Date.parse(dateHeader);
      if (Number.isNaN(serverTime)) return;
      const deviceTime = (requestSentAt + answerReceivedAt) / 2;
      offsetMilliseconds = Math.round(serverTime + halfSecondMilliseconds - deviceTime);
    },
    now: () => deviceClock() + offsetMilliseconds,
  };
}
