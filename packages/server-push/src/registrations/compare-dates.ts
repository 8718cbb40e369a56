/** Tolerated clock difference between processes on one database. Their clocks agree within a few seconds. */
const toleranceMilliseconds = 60_000;

/**
 * Compares when two registrations were accepted, in Unix milliseconds. Positive if `one` is later. A date after `now`
 * comes from a clock that was ahead, and counts as the earlier of the two: a registration that was accepted after the
 * clock was corrected has a lower date.
 */
export function compareDates(one: number, other: number, now: number): number {
  const latest = now + toleranceMilliseconds;
  const isOneAhead = one > latest;
  if (isOneAhead !== other > latest) return isOneAhead ? -1 : 1;
  return one - other;
}
