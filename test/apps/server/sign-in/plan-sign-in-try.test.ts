import { describe, expect, it } from 'vitest';
import { type NameFailures, planSignInTry } from '#server/platform/authentication/plan-sign-in-try.js';

const minute = 60_000;
const day = 24 * 60 * minute;
const now = 1_800_000_000_000;

/** The stored state after an attempt at that time. @throws if the name is locked. */
function tryAt(known: NameFailures | undefined, at: number): NameFailures {
  const planned = planSignInTry(known, at);
  if (planned.kind === 'locked') throw new Error(`locked for ${planned.waitSeconds} s`);
  return planned.next;
}

/** The stored state after this many attempts at the same time. */
function tryTimes(times: number, at: number, known?: NameFailures): NameFailures {
  let next = tryAt(known, at);
  for (let tried = 1; tried < times; tried++) next = tryAt(next, at);
  return next;
}

const lockedOnce = tryTimes(5, now);

describe('a name with failed sign-ins', () => {
  it('has five attempts within half an hour of the first, and is then forgotten', () => {
    expect(tryAt(undefined, now)).toEqual({
      failures: 1,
      since: now,
      lockouts: 0,
      lockedUntil: 0,
      forgetAt: now + 30 * minute,
    });
    const four = tryAt(tryTimes(3, now), now + 29 * minute);
    expect(four).toMatchObject({ failures: 4, since: now, forgetAt: now + 30 * minute });
    expect(tryAt(four, now + 30 * minute)).toMatchObject({ failures: 1, since: now + 30 * minute });
  });

  it('is locked for half an hour by the fifth attempt, and says how long the lock lasts', () => {
    const end = now + 30 * minute;
    expect(lockedOnce).toEqual({
      failures: 0,
      since: end,
      lockouts: 1,
      lockedUntil: end,
      forgetAt: end + day,
    });
    expect(planSignInTry(lockedOnce, end - 1500)).toEqual({ kind: 'locked', waitSeconds: 2 });
    expect(tryAt(lockedOnce, end)).toMatchObject({ failures: 1, lockouts: 1 });
  });

  it('also has five attempts per half hour after the lock', () => {
    const { lockedUntil } = lockedOnce;
    const four = tryTimes(4, lockedUntil + minute, lockedOnce);
    expect(four).toMatchObject({ failures: 4, since: lockedUntil });
    expect(tryAt(four, lockedUntil + 30 * minute)).toMatchObject({
      failures: 1,
      since: lockedUntil + 30 * minute,
    });
  });

  it('is locked twice as long each time, at most for a day', () => {
    let known = lockedOnce;
    const minutes = Array.from({ length: 8 }, () => {
      const from = known.lockedUntil;
      known = tryTimes(5, from, known);
      return (known.lockedUntil - from) / minute;
    });
    expect(minutes).toEqual([60, 120, 240, 480, 960, 1440, 1440, 1440]);
    const lockedAt = known.lockedUntil - day;
    expect(planSignInTry(known, lockedAt)).toEqual({ kind: 'locked', waitSeconds: day / 1000 });
  });

  it('keeps its lockouts for a day, or as long as its attempts count', () => {
    const { lockedUntil } = lockedOnce;
    expect(tryAt(lockedOnce, lockedUntil)).toMatchObject({ forgetAt: lockedUntil + day });
    const late = lockedUntil + day - minute;
    expect(tryAt(lockedOnce, late)).toMatchObject({ lockouts: 1, forgetAt: late + 30 * minute });
    expect(tryAt(lockedOnce, lockedUntil + day)).toMatchObject({ lockouts: 0, lockedUntil: 0 });
  });

  it('is not locked by records from a clock that was ahead', () => {
    const { lockedUntil } = lockedOnce;
    expect(planSignInTry(lockedOnce, lockedUntil - day).kind).toBe('locked');
    expect(tryAt(lockedOnce, lockedUntil - day - 1)).toMatchObject({ failures: 1, lockouts: 0 });
  });
});
