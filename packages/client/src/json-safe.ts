/**
 * Lets `JSON.stringify` write the `bigint` fields of an object, and those in its arrays, as decimal text. Otherwise it
 * throws a TypeError. Adds a `toJSON` that is not enumerable, and returns the object.
 */
export function jsonSafe<T extends object>(object: T): T {
  const toJSON = () => Object.fromEntries(Object.entries(object).map(([name, value]) => [name, safe(value)]));
  return Object.defineProperty(object, 'toJSON', { value: toJSON });
}

function safe(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(safe);
  return typeof value === 'bigint' ? value.toString() : value;
}
