/** The clocks of processes on one database agree to a few seconds. */
const toleranceMilliseconds = 60_000;

/**
 * Compares when two registrations were accepted, in Unix milliseconds: positive if `one` is the later. A date after `now` is
 * of a clock that was ahead. It counts as the earlier of the two: what was accepted after the clock was set right has a
 * lower date.
 */
export function compareDates(one: number, other: number, now: number): number {
  const latest = now + toleranceMilliseconds;
  const isOneAhead = one > latest;
  if (isOneAhead !== other > latest) return isOneAhead ? -1 : 1;
  return one - other;
}
