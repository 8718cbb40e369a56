/** Parameters of one request by name. A repeated parameter keeps all its values. */
export type RawParameters = ReadonlyMap<string, string | readonly string[]>;

/** {@link RawParameters} while they are collected. */
export type CollectedParameters = Map<string, string | string[]>;

/**
 * Placeholder for a value that is not valid UTF-8, until its parameter is read. An unpaired surrogate never occurs in
 * decoded text.
 */
export const undecodable = '\ud800';

/** Adds the value of a parameter from a form, multipart form or query string. */
export function addParameter(into: CollectedParameters, name: string, value: string): void {
  const known = into.get(name);
  if (known === undefined) into.set(name, value);
  else if (typeof known === 'string') into.set(name, [known, value]);
  else known.push(value);
}
