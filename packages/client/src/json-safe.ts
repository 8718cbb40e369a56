/**
 * Lets `JSON.stringify` write every `bigint` in an object as decimal text, on which it would throw a TypeError, and every
 * `Map` as an object. Adds a
 * `toJSON` that is not enumerable, and returns the object.
 */
export function jsonSafe<T extends object>(object: T): T {
  const toJSON = () => safe(Array.isArray(object) ? [...object] : { ...object });
  return Object.defineProperty(object, 'toJSON', { value: toJSON });
}

function safe(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(safe);
  if (value instanceof Map) return safe(Object.fromEntries(value));
  if (typeof value !== 'object' || value === null)
    return typeof value === 'bigint' ? value.toString() : value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, safe(part)]));
}
