import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readRetryAfter } from '#service/http/retry-after.js';

// Dates in asctime format have no time zone, and must not be parsed in the local time zone.
beforeAll(() => void vi.stubEnv('TZ', 'America/New_York'));
afterAll(() => void vi.unstubAllEnvs());

const now = Date.UTC(2026, 0, 5, 12);

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Mon, 05 Jan 2026 12:02:00 GMT', 120_000],
    ['Monday, 05-Jan-26 12:02:00 GMT', 120_000],
    ['Mon Jan  5 12:02:00 2026', 120_000],
    [`1${'0'.repeat(400)}`, 3_600_000],
    ['Mon, 05 Jan 2026 11:00:00 GMT', 0],
    ['Tue, 05 Jan 2027 12:00:00 GMT', 3_600_000],
    ['999999999', 3_600_000],
    ['-1', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['2026-01-05T13:00:00Z', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j means %j milliseconds', (header, milliseconds) => {
    expect(readRetryAfter(header, now)).toBe(milliseconds);
  });
});
