/**
 * Makes an object safe for `JSON.stringify`, which throws on a `bigint` and writes a `Map` as `{}`. Adds a
 * non-enumerable `toJSON` that converts every `bigint` to a decimal string and every `Map` to an object. Returns the
 * same object.
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
