const dayMilliseconds = 86_400_000;

/** How far a server's clock may be from the device's own to be followed on the server's word alone. */
const followedMilliseconds = dayMilliseconds;

/** How far behind the truth a device's clock may be for the phone to follow a signed key list. */
export const longestClockLagMilliseconds = 7 * dayMilliseconds;

export interface Clocks {
  /** Unix milliseconds by the device's own clock, as all here. */
  readonly device: number;
  /** What the server claims that it is. */
  readonly server: number;
  /** When the verified key list in force was issued: signed by the relay, so beyond a server's power. */
  readonly keyListIssuedAt: number | undefined;
}

export interface FollowedTime {
  readonly now: number;
  /** By the device's own clock. */
  readonly device: number;
  /** The latest instant that a server can lead the phone to. */
  readonly latest: number;
  /** Whether the two clocks are within a day of each other. */
  readonly clocksAgree: boolean;
  /** Whether `now` is the server's time. So it is wherever the clocks agree. */
  readonly isServerTime: boolean;
}

/**
 * What time a phone goes by.
 *
 * A server that could set a phone's clock forward would collect registrations for days to come; one that could set it
 * back would have them refused, and the phone believe that its account is lost. So it is followed up to a day from the
 * device's own clock, in both directions, and always counted from there, so that many small steps lead no further; and
 * up to a week forward when a signed key list was issued more than a day after what the device calls now, which proves
 * the device's clock to be behind. Beyond that the phone goes by its own clock.
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

/** What tells the date of a registration; in Unix milliseconds. */
export interface RegistrationDate {
  readonly time: FollowedTime;
  /** Date of the one before, if there was one. */
  readonly before: number | undefined;
  /** Whether another was refused just before. */
  readonly isRepeat: boolean;
}

/**
 * What a registration is dated: the time that the phone goes by, but never before an earlier one, so that no server moves
 * a phone's dates forward and back. A date from beyond what a server can lead to is of a clock that has been set right
 * since, and does not count. After a refusal it is the later of the two clocks, so that a server whose clock is behind
 * does not have it refused again.
 */
export function dateRegistration({ time, before, isRepeat }: RegistrationDate): number {
  const earliest = before !== undefined && before <= time.latest ? before : 0;
  return Math.max(time.now, earliest, isRepeat ? time.device : 0);
}
