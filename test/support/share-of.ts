/** A quantile of the values, such as the p99 for `part` 0.99. NaN if there are no values. */
export function shareOf(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
