import { tokenKinds } from '@waxwing/protocol';
import { deliveryOutcomes, indexOfCell, latencyBounds } from '../minutes/minute-cells.js';
import type { MinuteAmounts } from '../minutes/minute-store.js';

type Minutes = ReadonlyMap<number, MinuteAmounts>;

const minuteMilliseconds = 60_000;

/** Returns the figures of the `count` minutes that end with `last`. Each list has one entry per minute. */
export function describeMinutes(minutes: Minutes, last: number, count: number) {
  const at = Array.from({ length: count }, (_, index) => last - count + 1 + index);
  const series = (vendor: string, outcome: string) => {
    const index = indexOfCell({ vendor, outcome }) ?? -1;
    return at.map((minute) => minutes.get(minute)?.[index] ?? 0);
  };
  return {
    at: at.map((minute) => minute * minuteMilliseconds),
    registrations: series('', 'registered'),
    outcomes: tokenKinds.flatMap((vendor) =>
      deliveryOutcomes.map((outcome) => ({ vendor, outcome, counts: series(vendor, outcome) })),
    ),
  };
}

/**
 * Returns percentiles of the delivery latency: upper bounds of buckets, in milliseconds. `null` if there were no
 * deliveries.
 */
export function describeLatencies(minutes: Minutes): { p50: number; p95: number; p99: number } | null {
  const counts = latencyBounds.map((bound) => {
    const index = indexOfCell({ vendor: '', outcome: `within ${bound}` }) ?? -1;
    return [...minutes.values()].reduce((total, amounts) => total + (amounts[index] ?? 0), 0);
  });
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const quantile = (share: number): number => {
    let below = 0;
    const found = counts.findIndex((count) => {
      below += count;
      return below >= share * total;
    });
    return latencyBounds.at(found) ?? 0;
  };
  return { p50: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99) };
}
