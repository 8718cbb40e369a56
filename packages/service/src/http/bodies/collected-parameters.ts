/** Parameters of one request, by name; a repeated one has all of its values. */
export type RawParameters = ReadonlyMap<string, string | readonly string[]>;

/** The same while they are collected. */
export type CollectedParameters = Map<string, string | string[]>;

/** Adds what one source (form, multipart form, query string) says of a parameter. */
export function addParameter(into: CollectedParameters, name: string, value: string): void {
  const known = into.get(name);
  if (known === undefined) into.set(name, value);
  else if (typeof known === 'string') into.set(name, [known, value]);
  else known.push(value);
}
