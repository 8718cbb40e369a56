const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];

/** Formats a time relative to now, such as `3 hours ago` or `in 2 days`. */
function ago(at: number, now: number): string {
  const difference = at - now;
  const [unit, milliseconds] = units.find(([, size]) => Math.abs(difference) >= size) ?? ['second', 1_000];
  return relative.format(Math.round(difference / milliseconds), unit);
}

/** Formats a duration, such as `850 ms`, `4.2 s` or `3 h 20 min`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

interface TimeProps {
  readonly at: number | null;
  /** If set, the time is shown relative to this instant. Unix milliseconds. */
  readonly now?: number;
  readonly never?: string;
}

/** Shows a time: relative to `now`, or in the browser's time zone and locale. */
export function Time({ at, now, never = 'never' }: TimeProps) {
  if (at === null) return <span class="soft">{never}</span>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={exact.format(date)}>
      {now === undefined ? dateTime.format(date) : ago(at, now)}
    </time>
  );
}
