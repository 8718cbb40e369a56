const dayMilliseconds = 86_400_000;

/** How far a server's clock may be ahead of the device's own to be followed on the server's word alone. */
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
  /** Whether the two clocks are within a day of each other. */
  readonly clocksAgree: boolean;
  /** Whether `now` is the server's time. So it is wherever the clocks agree. */
  readonly isServerTime: boolean;
}

/**
 * What time a phone goes by.
 *
 * A server that could set a phone's clock forward would collect registrations for days to come. So it is followed
 * forward up to a day from the device's own clock, and always counted from there, so that many small steps lead no
 * further; and up to a week when a signed key list was issued more than a day after what the device calls now, which
 * proves the device's clock to be behind. Backward it is followed as far as it says: an earlier time only makes a
 * registration end sooner.
 */
export function timeToFollow({ device, server, keyListIssuedAt }: Clocks): FollowedTime {
  const ahead = server - device;
  const clocksAgree = Math.abs(ahead) <= followedMilliseconds;
  const isProvenBehind =
    keyListIssuedAt !== undefined &&
    device < keyListIssuedAt - followedMilliseconds &&
    keyListIssuedAt <= server;
  const furthest = isProvenBehind ? longestClockLagMilliseconds : followedMilliseconds;
  const isServerTime = ahead <= furthest;
  return { now: isServerTime ? server : device, clocksAgree, isServerTime };
}
