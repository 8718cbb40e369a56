import { backOffMilliseconds } from '@waxwing/service/lifecycle';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

export interface RetrySchedule {
  /** The vendor's floor for the first retry, and what the later ones grow from. */
  readonly firstMilliseconds: number;
  /** What the second and later delays grow from, where that is more. */
  readonly thenMilliseconds?: number;
  /** No delay of ours is longer; a vendor's Retry-After may be. */
  readonly capMilliseconds: number;
  /** Retries end so long after the notification came, even when it would live longer. */
  readonly stopAfterMilliseconds: number;
  /** Tries in all that may end like this. */
  readonly maximumTries?: number;
}

/**
 * How long to wait before trying again. FCM: https://firebase.google.com/docs/cloud-messaging/scale-fcm (a minute after
 * 429, 10 s after 500 and 503, an hour at most). APNs:
 * https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns (15 minutes
 * after 500 and 503; one early try is ours).
 */
export const retrySchedules = {
  fcmQuota: { firstMilliseconds: minute, capMilliseconds: 15 * minute, stopAfterMilliseconds: hour },
  fcmUnavailable: {
    firstMilliseconds: 10 * second,
    capMilliseconds: 5 * minute,
    stopAfterMilliseconds: hour,
  },
  apnsUnavailable: {
    firstMilliseconds: 10 * second,
    thenMilliseconds: 15 * minute,
    capMilliseconds: hour,
    stopAfterMilliseconds: 24 * hour,
  },
  apnsDeviceThrottle: {
    firstMilliseconds: 30 * second,
    capMilliseconds: 10 * minute,
    stopAfterMilliseconds: 24 * hour,
  },
  /** Perhaps the credential is refused and will be mended, perhaps this token alone is at fault. */
  credentialSuspected: { firstMilliseconds: minute, capMilliseconds: hour, stopAfterMilliseconds: 24 * hour },
  /** It may have been sent and a repeat may be a duplicate, so there are no more than two repeats. */
  ambiguous: {
    firstMilliseconds: 10 * second,
    capMilliseconds: 5 * minute,
    stopAfterMilliseconds: hour,
    maximumTries: 3,
  },
  /** The vendor has seen nothing, even on a second connection: as after 500, for as long as it is worth it. */
  unseen: { firstMilliseconds: 10 * second, capMilliseconds: 5 * minute, stopAfterMilliseconds: 24 * hour },
} as const satisfies Record<string, RetrySchedule>;

export type RetryScheduleName = keyof typeof retrySchedules;

export interface RetryQuestion {
  readonly schedule: RetrySchedule;
  /** Tries made so far; 1 after the first. */
  readonly tries: number;
  /** What the vendor asked for; `undefined` when it asked for nothing. */
  readonly retryAfterMilliseconds: number | undefined;
  /** A number from 0 up to, not including, 1. */
  readonly random: () => number;
}

/**
 * Milliseconds until the next try: never below the vendor's floor or its Retry-After, doubling up to the cap, and
 * spread over the upper part so that what failed together does not come back together.
 */
export function retryDelay({ schedule, tries, retryAfterMilliseconds, random }: RetryQuestion): number {
  const { firstMilliseconds, thenMilliseconds = firstMilliseconds, capMilliseconds } = schedule;
  const isFirst = tries <= 1;
  const base = isFirst ? firstMilliseconds : Math.max(firstMilliseconds, thenMilliseconds);
  const doublings = isFirst ? 0 : thenMilliseconds === firstMilliseconds ? tries - 1 : tries - 2;
  const grown = backOffMilliseconds({ attempt: doublings + 1, firstMilliseconds: base, capMilliseconds });
  const floor = Math.max(base, grown / 2, retryAfterMilliseconds ?? 0);
  return Math.round(floor + random() * Math.max(grown - floor, floor / 4));
}
