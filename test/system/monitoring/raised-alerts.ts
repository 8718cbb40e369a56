import type { Series } from './incidents.js';

/** Minute at which a program's metrics change. */
const beginMinute = 10;
const endMinute = 40;
const sample = /^(\w+)(?:\{(.*)\})? ([-+.\w]+)$/;

/** Metrics in Prometheus's text format, and the time of the scrape in Unix milliseconds. */
export interface Scrape {
  readonly text: string;
  readonly at: number;
}

/**
 * Series of a program whose metrics are `before` for ten minutes and then change to `after`. Gauges take the new value.
 * Counters grow by the difference every minute.
 */
export function seriesOf(before: Scrape, after: Scrape, job: string): Series {
  const former = samplesOf(before);
  const series: Record<string, string> = {};
  for (const [name, value] of samplesOf(after)) {
    const metric = /^\w+/.exec(name)?.[0] ?? '';
    const was = former.get(name) ?? (isCounter(metric) ? 0 : undefined);
    const place = `job="${job}",instance="${job}:9001"`;
    const labeled = name.includes('{') ? name.replace('{', `{${place},`) : `${name}{${place}}`;
    series[labeled] = isCounter(metric)
      ? `${was}x${beginMinute} ${was}+${value - (was ?? 0)}x${endMinute}`
      : `${was ?? '_'}x${beginMinute} ${value}x${endMinute}`;
  }
  return series;
}

function isCounter(metric: string): boolean {
  return /_(?:total|bucket|count|sum)$/.test(metric);
}

/** Metrics by series. Times become relative to the scrape, because Prometheus's tests begin at time 0. */
function samplesOf({ text, at }: Scrape): ReadonlyMap<string, number> {
  const samples = text.split('\n').flatMap((line): [string, number][] => {
    const [, name = '', labels, value] = sample.exec(line) ?? [];
    if (!name.startsWith('waxwing_')) return [];
    const base = name.endsWith('_timestamp_seconds') ? at / 1000 : 0;
    return [[labels === undefined ? name : `${name}{${labels}}`, Number(value) - base]];
  });
  return new Map(samples.filter(([, value]) => Number.isFinite(value)));
}
