/** What so large a part of the values do not exceed, 0.99 for the p99; NaN of none. */
export function shareOf(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
