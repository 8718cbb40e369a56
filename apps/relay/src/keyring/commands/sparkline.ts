const bars = '▁▂▃▄▅▆▇█';

/** Formats one bar per count. The largest count gets the highest bar, and 0 gets a dot. */
export function formatSparkline(counts: readonly number[]): string {
  const largest = Math.max(1, ...counts);
  return counts
    .map((count) => (count === 0 ? '·' : bars[Math.ceil((count / largest) * bars.length) - 1]))
    .join('');
}
