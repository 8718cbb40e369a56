const names = new Map<string, string>();

/**
 * Makes each connection keep this statement prepared after its first run, so that PostgreSQL parses and plans it once.
 * Use this only for insertions with fixed SQL text: the cached plan of a search becomes stale as its table grows.
 */
export function keepPrepared(text: string): string {
  if (!names.has(text)) names.set(text, `waxwing_${names.size}`);
  return text;
}

/** Returns the name that connections use for a prepared statement; `undefined` for other statements. */
export function preparedName(text: string): string | undefined {
  return names.get(text);
}
