/** Groups values by key. Keeps their order within a group. */
export function groupedBy<Key, Value>(
  values: readonly Value[],
  keyOf: (value: Value) => Key,
): Map<Key, Value[]> {
  const grouped = new Map<Key, Value[]>();
  for (const value of values) {
    const same = grouped.get(keyOf(value));
    if (same === undefined) grouped.set(keyOf(value), [value]);
    else same.push(value);
  }
  return grouped;
}
