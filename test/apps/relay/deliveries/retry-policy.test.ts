import { describe, expect, it } from 'vitest';
import { parseRetryAfter } from '../../../../apps/relay/src/deliveries/policy/retry-after.js';
import {
  type RetrySchedule,
  retryDelay,
  retrySchedules,
} from '../../../../apps/relay/src/deliveries/policy/retry-schedules.js';

const now = Date.UTC(2026, 0, 5, 12);

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Mon, 05 Jan 2026 12:02:00 GMT', 120_000],
    ['Monday, 05-Jan-26 12:02:00 GMT', 120_000],
    ['Mon, 05 Jan 2026 11:00:00 GMT', 0],
    ['999999999', 3_600_000],
    ['-1', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j asks for %j milliseconds', (header, milliseconds) => {
    expect(parseRetryAfter(header, now)).toBe(milliseconds);
  });
});

/** The least and the most seconds before the retries that follow the first, second, third, … try. */
function delays(schedule: RetrySchedule, tries: number, retryAfterSeconds?: number): [number, number][] {
  const retryAfterMilliseconds = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000;
  return Array.from({ length: tries }, (_, index) => {
    const delay = (random: number) =>
      retryDelay({ schedule, tries: index + 1, retryAfterMilliseconds, random: () => random }) / 1000;
    return [delay(0), delay(1)];
  });
}

describe('the delay before another try', () => {
  it('after FCM 429 starts at a minute, doubles, and stops growing at a quarter of an hour', () => {
    expect(delays(retrySchedules.fcmQuota, 7)).toEqual([
      [60, 75],
      [60, 120],
      [120, 240],
      [240, 480],
      [450, 900],
      [450, 900],
      [450, 900],
    ]);
  });

  it('after FCM 500 and 503 starts at ten seconds and stops growing at five minutes', () => {
    const all = delays(retrySchedules.fcmUnavailable, 8);
    expect(all[0]).toEqual([10, 12.5]);
    expect(all[1]).toEqual([10, 20]);
    expect(all.at(-1)).toEqual([150, 300]);
  });

  it('after APNs 500 and 503 is once short, then a quarter of an hour, then up to an hour', () => {
    expect(delays(retrySchedules.apnsUnavailable, 5)).toEqual([
      [10, 12.5],
      [900, 1125],
      [900, 1800],
      [1800, 3600],
      [1800, 3600],
    ]);
  });

  it('is never shorter than the vendor asks', () => {
    for (const [least] of delays(retrySchedules.fcmUnavailable, 8, 400)) expect(least).toBe(400);
    expect(delays(retrySchedules.fcmQuota, 1, 5)).toEqual([[60, 75]]);
  });
});
