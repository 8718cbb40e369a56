import { backOffMilliseconds } from '@waxwing/service/lifecycle';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

export interface RetrySchedule {
  /** Delay of the first retry, which is the vendor's minimum. Later delays grow from this value. */
  readonly firstMilliseconds: number;
  /** Base for the second and later delays, if larger. */
  readonly thenMilliseconds?: number;
  /** Upper bound of computed delays. A vendor's Retry-After may exceed it. */
  readonly capMilliseconds: number;
  /** Retries stop this long after the relay received the notification, even if its TTL is longer. */
  readonly stopAfterMilliseconds: number;
  /** Maximum number of attempts with this result. */
  readonly maximumTries?: number;
}

/**
 * Retry schedules (exponential backoff with jitter). FCM: https://firebase.google.com/docs/cloud-messaging/scale-fcm
 * (one minute after 429, 10 s after 500 and 503, one hour at most). APNs:
 * https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns (15 minutes
 * after 500 and 503; the earlier first retry is the relay's choice).
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
  /** RFC 8030 specifies no delays. The first delays match those for FCM's 503 and for a device that APNs throttles. */
  webPushUnavailable: {
    firstMilliseconds: 10 * second,
    capMilliseconds: 15 * minute,
    stopAfterMilliseconds: 24 * hour,
  },
  webPushThrottle: {
    firstMilliseconds: 30 * second,
    capMilliseconds: 10 * minute,
    stopAfterMilliseconds: 24 * hour,
  },
  /** The credential or this token may be at fault. The delays give the operator time to fix the credential. */
  credentialSuspected: { firstMilliseconds: minute, capMilliseconds: hour, stopAfterMilliseconds: 24 * hour },
  /** Google does not know the installation yet, or no longer knows it. */
  newInstallation: { firstMilliseconds: minute, capMilliseconds: hour, stopAfterMilliseconds: 24 * hour },
  /** The vendor may have delivered the notification, so a retry may be a duplicate: at most two retries. */
  ambiguous: {
    firstMilliseconds: 10 * second,
    capMilliseconds: 5 * minute,
    stopAfterMilliseconds: hour,
    maximumTries: 3,
  },
  /**
   * The vendor did not see the notification, even on a second connection. Same delays as after a 500, until the
   * notification expires.
   */
  unseen: { firstMilliseconds: 10 * second, capMilliseconds: 5 * minute, stopAfterMilliseconds: 24 * hour },
} as const satisfies Record<string, RetrySchedule>;

export type RetryScheduleName = keyof typeof retrySchedules;

export interface RetryQuestion {
  readonly schedule: RetrySchedule;
  /** Number of attempts so far; 1 after the first. */
  readonly tries: number;
  /** Value of the vendor's Retry-After header, if the response had one. */
  readonly retryAfterMilliseconds?: number | undefined;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

/**
 * Returns the milliseconds until the next attempt: exponential backoff with jitter. The backoff doubles up to the cap.
 * The delay is a random time in the upper half of the backoff, but never below the vendor's minimum or its Retry-After.
 * The jitter spreads out notifications that failed at the same time.
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
