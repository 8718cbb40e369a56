/** Sorts ids in ascending order and removes duplicates. */
export function ascendingIds<Id extends number>(ids: Iterable<Id>): Id[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}
