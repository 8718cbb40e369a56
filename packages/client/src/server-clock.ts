/** Milliseconds since 1970, as `Date.now` gives them. */
export type PhoneClock = () => number;

/**
 * The server's clock as the phone knows it: the device's clock, corrected by the `Date` header of answers
 * (RFC 9110 section 6.6.1). A claim only: what of it is followed is for `timeToFollow` to say.
 */
export interface ServerClock {
  /** Takes note of an answer's `Date` header; `null` or a text that is no date changes nothing. */
  learn(dateHeader: string | null, requestSentAt: number, answerReceivedAt: number): void;
  /** Milliseconds by the server's clock; by the device's own as long as no answer told otherwise. */
  now(): number;
}

// The header is cut to whole seconds, so the middle of that second is the best guess.
const halfSecondMilliseconds = 500;

/** A server clock that knows nothing yet. */
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
