/** Comparator for `sort`: orders by name, in UTF-16 code units. */
export function compareNames(one: { readonly name: string }, other: { readonly name: string }): number {
  if (one.name === other.name) return 0;
  return one.name < other.name ? -1 : 1;
}
