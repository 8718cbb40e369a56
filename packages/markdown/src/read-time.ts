/** Stock clients can show only the years 1 to 9999. */
const firstInstant = Date.parse('0001-01-01T00:00:00Z');
const lastInstant = Date.parse('9999-12-31T23:59:59Z');

const isoTime =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,6}))?)?)? ?(Z|UTC|[+-][0-9]{2}:?[0-9]{2})?$/i;

/**
 * Parses an ISO 8601 time, such as `2025-01-31T10:00+01:00`, or a date, which means midnight on that date. The time
 * zone is `Z`, `UTC` or an offset; the default is UTC. Returns undefined for anything else and for times outside the
 * years 1 to 9999.
 */
export function readTime(text: string): Date | undefined {
  const milliseconds = readIso(text.trim());
  if (milliseconds === undefined || !(milliseconds >= firstInstant && milliseconds <= lastInstant))
    return undefined;
  return new Date(milliseconds);
}

function readIso(text: string): number | undefined {
  const match = isoTime.exec(text);
  if (match === null) return undefined;
  const [, year, month, dayOfMonth, hour, minute, second, fraction, offset] = match;
  const milliseconds = Math.trunc(Number(`0.${fraction ?? 0}`) * 1000);
  return instantOf(
    { year: Number(year), month: Number(month), day: Number(dayOfMonth) },
    { hour: Number(hour ?? 0), minute: Number(minute ?? 0), second: Number(second ?? 0), milliseconds },
    offset,
  );
}

interface CalendarDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly milliseconds: number;
}

function instantOf(date: CalendarDate, time: TimeOfDay, offset: string | undefined): number | undefined {
  if (time.hour > 23 || time.minute > 59 || time.second > 59) return undefined;
  const at = new Date(0);
  // `Date.UTC` would read the years 0 to 99 as 1900 to 1999.
  at.setUTCFullYear(date.year, date.month - 1, date.day);
  if (at.getUTCMonth() !== date.month - 1 || at.getUTCDate() !== date.day) return undefined;
  at.setUTCHours(time.hour, time.minute, time.second, time.milliseconds);
  const offsetMinutes = readOffset(offset);
  return offsetMinutes === undefined ? undefined : at.getTime() - offsetMinutes * 60_000;
}

function readOffset(offset: string | undefined): number | undefined {
  const match = /^([+-])([0-9]{2}):?([0-9]{2})$/.exec(offset ?? '');
  if (match === null) return 0;
  const [, sign, hours, minutes] = match;
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
