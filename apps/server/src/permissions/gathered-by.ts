/** Groups values by key. Keeps their order within a group. */
export function gatheredBy<Key, Value>(
  values: readonly Value[],
  keyOf: (value: Value) => Key,
): Map<Key, Value[]> {
  const gathered = new Map<Key, Value[]>();
  for (const value of values) {
    const same = gathered.get(keyOf(value));
    if (same === undefined) gathered.set(keyOf(value), [value]);
    else same.push(value);
  }
  return gathered;
}
