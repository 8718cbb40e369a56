const names = new Map<string, string>();

/**
 * Has each connection keep a statement once it has run there, so that PostgreSQL reads and plans it once. Only for
 * insertions whose text is built once: a plan for a search that is kept while its table grows may become the wrong one.
 */
export function keepPrepared(text: string): string {
  if (!names.has(text)) names.set(text, `waxwing_${names.size}`);
  return text;
}

/** Under which name connections keep a statement; `undefined` for those that are not kept. */
export function preparedName(text: string): string | undefined {
  return names.get(text);
}
