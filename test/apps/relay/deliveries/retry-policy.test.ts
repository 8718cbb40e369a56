import { describe, expect, it } from 'vitest';
import { type Delivery, type EncryptedNotification, keptUntil } from '#relay/deliveries/delivery.js';
import { productionTimings } from '#relay/deliveries/delivery-timings.js';
import { judgeAnswer } from '#relay/deliveries/policy/judge-answer.js';
import { type RetrySchedule, retryDelay, retrySchedules } from '#relay/deliveries/policy/retry-schedules.js';
import type { UnansweredReason, VendorAnswer } from '#relay/deliveries/vendors/vendor-sender.js';

const now = Date.UTC(2026, 0, 5, 12);

/** Returns the minimum and maximum seconds before each retry, in order. */
function delays(schedule: RetrySchedule, tries: number, retryAfterSeconds?: number): [number, number][] {
  const retryAfterMilliseconds = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000;
  return Array.from({ length: tries }, (_, index) => {
    const delay = (random: number) =>
      retryDelay({ schedule, tries: index + 1, retryAfterMilliseconds, random: () => random }) / 1000;
    return [delay(0), delay(1)];
  });
}

describe('the delay before a retry', () => {
  // Minimum and maximum seconds before each retry. The last two delays have reached the cap.
  const fromTenSecondsToFiveMinutes = [
    [10, 12.5],
    [10, 20],
    [20, 40],
    [40, 80],
    [80, 160],
    [150, 300],
    [150, 300],
  ];
  const table: Record<keyof typeof retrySchedules, number[][]> = {
    fcmQuota: [
      [60, 75],
      [60, 120],
      [120, 240],
      [240, 480],
      [450, 900],
      [450, 900],
    ],
    fcmUnavailable: fromTenSecondsToFiveMinutes,
    apnsUnavailable: [
      [10, 12.5],
      [900, 1125],
      [900, 1800],
      [1800, 3600],
      [1800, 3600],
    ],
    apnsDeviceThrottle: [
      [30, 37.5],
      [30, 60],
      [60, 120],
      [120, 240],
      [240, 480],
      [300, 600],
      [300, 600],
    ],
    webPushUnavailable: [
      [10, 12.5],
      [10, 20],
      [20, 40],
      [40, 80],
      [80, 160],
      [160, 320],
      [320, 640],
      [450, 900],
      [450, 900],
    ],
    webPushThrottle: [
      [30, 37.5],
      [30, 60],
      [60, 120],
      [120, 240],
      [240, 480],
      [300, 600],
      [300, 600],
    ],
    credentialSuspected: [
      [60, 75],
      [60, 120],
      [120, 240],
      [240, 480],
      [480, 960],
      [960, 1920],
      [1800, 3600],
      [1800, 3600],
    ],
    newInstallation: [
      [60, 75],
      [60, 120],
      [120, 240],
      [240, 480],
      [480, 960],
      [960, 1920],
      [1800, 3600],
      [1800, 3600],
    ],
    ambiguous: fromTenSecondsToFiveMinutes,
    unseen: fromTenSecondsToFiveMinutes,
  };

  it.each(Object.entries(table))('of %s grows up to its cap as the table says', (name, all) => {
    expect(delays(retrySchedules[name as keyof typeof retrySchedules], all.length)).toEqual(all);
  });

  it("is never shorter than the vendor's Retry-After", () => {
    for (const [least] of delays(retrySchedules.fcmUnavailable, 8, 400)) expect(least).toBe(400);
    expect(delays(retrySchedules.fcmQuota, 1, 5)).toEqual([[60, 75]]);
  });
});

describe('retries', () => {
  const minute = 60_000;
  const refused = (httpStatus: number, reason: string) => ({ kind: 'refused', httpStatus, reason }) as const;
  const unanswered = (why: UnansweredReason) => ({ kind: 'unanswered', why }) as const;
  const fcmUnavailable = refused(503, 'UNAVAILABLE');

  it.each([
    ['FCM 429', 'fcm', refused(429, 'QUOTA_EXCEEDED'), 'an hour', 60 * minute],
    ['FCM 503', 'fcm', fcmUnavailable, 'an hour', 60 * minute],
    ['APNs 429', 'apns', refused(429, 'TooManyRequests'), 'a day', 24 * 60 * minute],
    ['APNs 503', 'apns', refused(503, 'ServiceUnavailable'), 'a day', 24 * 60 * minute],
    ['Web Push 429', 'webpush', refused(429, 'TOO_MANY_REQUESTS'), 'a day', 24 * 60 * minute],
    ['Web Push 503', 'webpush', refused(503, 'SERVICE_UNAVAILABLE'), 'a day', 24 * 60 * minute],
    ['a timeout', 'fcm', unanswered('TIMED_OUT'), 'an hour', 60 * minute],
    ['no connection', 'fcm', unanswered('NOT_CONNECTED'), 'a day', 24 * 60 * minute],
    ['nothing processed', 'apns', unanswered('NOT_PROCESSED'), 'a day', 24 * 60 * minute],
  ] as const)(
    'stop after a fixed time for %s (%s), even with a TTL of weeks',
    (_name, vendor, answer, _when, end) => {
      expect(judge({ vendor, answer, age: end - 2 * minute, tries: 1 }).kind).toBe('retry');
      expect(judge({ vendor, answer, age: end, tries: 1 })).toMatchObject({
        kind: 'rejected',
        fault: 'vendor',
      });
    },
  );

  it('stop when the TTL ends if that is earlier', () => {
    const options = { vendor: 'fcm', answer: fcmUnavailable, tries: 1, timeToLiveSeconds: 600 } as const;
    expect(judge({ ...options, age: 9 * minute }).kind).toBe('retry');
    expect(judge({ ...options, age: 10 * minute }).kind).toBe('rejected');
  });

  it.each(['TIMED_OUT', 'BROKEN_OFF'] as const)('stop after the third attempt that ends with %s', (why) => {
    const answer = unanswered(why);
    expect(judge({ vendor: 'fcm', answer, age: 0, tries: 9, doubtsBefore: 1 }).kind).toBe('retry');
    expect(judge({ vendor: 'fcm', answer, age: 0, tries: 3, doubtsBefore: 2 })).toMatchObject({
      kind: 'rejected',
      fault: 'vendor',
    });
  });
});

describe("a vendor's Retry-After", () => {
  const hour = 3_600_000;
  const farDate = new Date(Date.UTC(2099, 0, 1)).toUTCString();
  const answers = [
    ['fcm', 'QUOTA_EXCEEDED', 429],
    ['fcm', 'UNAVAILABLE', 503],
    ['fcm', 'OAUTH_UNAVAILABLE', 503],
    ['apns', 'TooManyRequests', 429],
    ['apns', 'ServiceUnavailable', 503],
  ] as const;
  const cases = answers.flatMap(([vendor, reason, httpStatus]) =>
    ['0', '600', '3599', '3600', '86400', '99999999999', farDate].flatMap((retryAfter) =>
      [90, 600, 3600, 7200, 28 * 24 * 3600].flatMap((timeToLiveSeconds) =>
        [0, 0.999].map((random) => ({ vendor, reason, httpStatus, retryAfter, timeToLiveSeconds, random })),
      ),
    ),
  );

  it.each(cases)(
    'of $retryAfter after $reason does not expire a notification with a TTL of $timeToLiveSeconds s',
    (one) => {
      const { vendor, reason, httpStatus, retryAfter, timeToLiveSeconds, random } = one;
      const refusal = { kind: 'refused', httpStatus, reason } as const;
      const options = { vendor, age: 0, tries: 1, timeToLiveSeconds, random } as const;
      const own = judge({ ...options, answer: refusal });
      const asked = judge({ ...options, answer: { ...refusal, retryAfter } });
      expect(asked.kind).toBe(own.kind);
      if (asked.kind !== 'retry' || own.kind !== 'retry') return;
      const stopAt = now + Math.min(timeToLiveSeconds * 1000, vendor === 'fcm' ? hour : 24 * hour);
      expect(asked.at).toBeLessThan(stopAt);
      expect(asked.at).toBeGreaterThanOrEqual(own.at);
      const seconds = retryAfter === farDate ? Number.POSITIVE_INFINITY : Number(retryAfter);
      // The relay waits at most an hour for a vendor, and at most half of the remaining time.
      expect(asked.at - now).toBeGreaterThanOrEqual(Math.min(seconds * 1000, hour, (stopAt - now) / 2));
      expect(asked.at - now).toBeLessThanOrEqual(1.25 * hour);
    },
  );
});

describe('the production timings', () => {
  const { apns, ...timings } = productionTimings;

  it('match the vendors’ documentation and shorten no delay', () => {
    expect(timings.delayDivisor).toBe(1);
    expect(timings.fcmTimeoutMilliseconds).toBeGreaterThanOrEqual(10_000);
    // Apple requires a ping at least hourly, but middleboxes close idle connections sooner.
    expect(apns.pingAfterIdleMilliseconds).toBeLessThanOrEqual(10 * 60_000);
    expect(apns.pingAfterIdleMilliseconds).toBeGreaterThan(60_000);
  });

  it('end a request before the server times out after 15 seconds', () => {
    expect(timings.requestBudgetMilliseconds).toBeLessThanOrEqual(10_000);
  });
});

describe('a queued notification', () => {
  it.each([
    ['a day if its TTL is longer', 28 * 24 * 3600, 24 * 3600],
    ['its TTL if that is shorter', 600, 600],
  ])('is kept for %s', (_name, timeToLiveSeconds, seconds) => {
    expect(keptUntil({ receivedAt: now, timeToLiveSeconds } as EncryptedNotification)).toBe(
      now + seconds * 1000,
    );
  });
});

function judge(options: {
  vendor: 'fcm' | 'apns' | 'webpush';
  answer: VendorAnswer;
  /** Age of the notification in milliseconds. */
  age: number;
  tries: number;
  doubtsBefore?: number;
  timeToLiveSeconds?: number;
  random?: number;
}) {
  const { vendor, answer, age, tries, doubtsBefore = 0 } = options;
  const { timeToLiveSeconds = 28 * 24 * 3600, random = 0 } = options;
  const notification = { receivedAt: now - age, timeToLiveSeconds } as Delivery['notification'];
  const delivery = { notification, device: {} } as Delivery;
  return judgeAnswer(
    { vendor, delivery, answer, tries, doubtsBefore },
    { now, random: () => random, delayDivisor: 1 },
  );
}
