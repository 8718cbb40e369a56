const dayMilliseconds = 86_400_000;

/**
 * Maximum difference between the server's clock and the device's clock that the phone accepts without further proof.
 */
const followedMilliseconds = dayMilliseconds;

/** Maximum lag of the device's clock at which the phone still follows the date of a signed key list. */
export const longestClockLagMilliseconds = 7 * dayMilliseconds;

export interface Clocks {
  /** Unix milliseconds according to the device's clock, like all instants here. */
  readonly device: number;
  /** The server's claimed time. */
  readonly server: number;
  /** When the current verified key list was issued. The relay signs it, so a server cannot forge it. */
  readonly keyListIssuedAt: number | undefined;
}

export interface FollowedTime {
  readonly now: number;
  /** According to the device's own clock. */
  readonly device: number;
  /** Latest time that a server can make the phone use. */
  readonly latest: number;
  /** Whether the two clocks are within a day of each other. */
  readonly clocksAgree: boolean;
  /** Whether `now` is the server's time; always true if the clocks agree. */
  readonly isServerTime: boolean;
}

/**
 * Decides which time a phone uses: the device's clock or the server's claim.
 *
 * If a server could move a phone's time forward, it could collect registrations that stay valid for days. If it could
 * move the time back, registrations would be refused, and the phone would conclude that its account is lost. The phone
 * therefore follows a server only within bounds. The bounds are always measured from the device's clock, so that small
 * steps cannot add up:
 *
 * - up to a day in either direction
 * - up to a week forward if a signed key list was issued more than a day after the device's time, which proves that the
 *   device's clock is behind
 *
 * Beyond these bounds the phone uses its own clock.
 */
export function timeToFollow({ device, server, keyListIssuedAt }: Clocks): FollowedTime {
  const ahead = server - device;
  const clocksAgree = Math.abs(ahead) <= followedMilliseconds;
  const isProvenBehind =
    keyListIssuedAt !== undefined &&
    device < keyListIssuedAt - followedMilliseconds &&
    keyListIssuedAt <= server;
  const furthest = isProvenBehind ? longestClockLagMilliseconds : followedMilliseconds;
  const isServerTime = ahead <= furthest && ahead >= -followedMilliseconds;
  const now = isServerTime ? server : device;
  return { now, device, latest: device + furthest, clocksAgree, isServerTime };
}

/** Inputs for a registration's date; Unix milliseconds. */
export interface RegistrationDate {
  readonly time: FollowedTime;
  /** Date of the previous registration; `undefined` if there was none. */
  readonly before: number | undefined;
  /** Whether the previous registration was just refused. */
  readonly isRepeat: boolean;
}

/**
 * Computes a registration's date: the followed time, but never earlier than the previous date, so that no server can
 * move a phone's dates back and forth. A previous date beyond `time.latest` is ignored, because the clock has been
 * corrected since then. After a refusal, uses the later of the two clocks, so that a server whose clock is behind does
 * not cause a second refusal.
 */
export function dateRegistration({ time, before, isRepeat }: RegistrationDate): number {
  const earliest = before !== undefined && before <= time.latest ? before : 0;
  return Math.max(time.now, earliest, isRepeat ? time.device : 0);
}
