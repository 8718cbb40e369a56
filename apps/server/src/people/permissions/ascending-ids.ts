/** The ids in ascending order, without duplicates. */
export function ascendingIds<Id extends number>(ids: Iterable<Id>): Id[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}
