const bars = '▁▂▃▄▅▆▇█';

/** One bar for each count, the highest for the largest; a dot for nothing. */
export function formatSparkline(counts: readonly number[]): string {
  const largest = Math.max(1, ...counts);
  return counts
    .map((count) => (count === 0 ? '·' : bars[Math.ceil((count / largest) * bars.length) - 1]))
    .join('');
}
