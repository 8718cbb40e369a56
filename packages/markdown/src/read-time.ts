/** The range of years that stock clients can show. */
const firstInstant = Date.parse('0001-01-01T00:00:00Z');
const lastInstant = Date.parse('9999-12-31T23:59:59Z');

const unixSeconds = /^-?[0-9]{1,12}(?:\.[0-9]{1,6})?$/;
const isoTime =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,6}))?)?)? ?(Z|UTC|[+-][0-9]{2}:?[0-9]{2})?$/i;

const months =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const weekdays =
  'mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?';
const day = '([0-9]{1,2})(?:st|nd|rd|th)?';
const clock = '(?:[ ,]+(?:at )?([0-9]{1,2})(?::([0-9]{2})(?::([0-9]{2}))?)? ?([ap]m)?)?';
const zone = '(?: ?(Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?';
const dayFirst = new RegExp(
  `^(?:(?:${weekdays})[ ,]+)?${day} (${months})[ ,]+([0-9]{4})${clock}${zone}$`,
  'i',
);
const monthFirst = new RegExp(
  `^(?:(?:${weekdays})[ ,]+)?(${months}) ${day}[ ,]+([0-9]{4})${clock}${zone}$`,
  'i',
);

/**
 * Parses a time: ISO 8601, Unix seconds, or words such as `31 Dec 2017 5:30 am` and `Jun 5th 2017, 10:30PM`. The zone may
 * be `Z`, `UTC`, `GMT` (in words only) or an offset, and defaults to UTC. Returns undefined for any other text, and for
 * instants outside the years 1 to 9999.
 */
export function readTime(text: string): Date | undefined {
  const typed = text.trim();
  const milliseconds = unixSeconds.test(typed) ? Number(typed) * 1000 : (readIso(typed) ?? readWords(typed));
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

function readWords(text: string): number | undefined {
  const byDay = dayFirst.exec(text);
  const [, one, two, year, hour, minute, second, half, offset] = byDay ?? monthFirst.exec(text) ?? [];
  if (year === undefined) return undefined;
  const [dayOfMonth, month = ''] = byDay === null ? [two, one] : [one, two];
  const monthNumber = 'janfebmaraprmayjunjulaugsepoctnovdec'.indexOf(month.slice(0, 3).toLowerCase()) / 3 + 1;
  const hourOfDay = half === undefined ? Number(hour ?? 0) : hourOfHalf(Number(hour), half);
  if (hourOfDay === undefined) return undefined;
  return instantOf(
    { year: Number(year), month: monthNumber, day: Number(dayOfMonth) },
    { hour: hourOfDay, minute: Number(minute ?? 0), second: Number(second ?? 0), milliseconds: 0 },
    offset,
  );
}

function hourOfHalf(hour: number, half: string): number | undefined {
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
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
