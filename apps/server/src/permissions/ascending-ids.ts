/** The ids in ascending order, each once. */
export function ascendingIds(ids: Iterable<number>): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}
