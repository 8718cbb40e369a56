const bars = '▁▂▃▄▅▆▇█';

/** Formats one bar per count; the largest count gets the highest bar, 0 a dot. */
export function formatSparkline(counts: readonly number[]): string {
  const largest = Math.max(1, ...counts);
  return counts
    .map((count) => (count === 0 ? '·' : bars[Math.ceil((count / largest) * bars.length) - 1]))
    .join('');
}
