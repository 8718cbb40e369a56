/**
 * Returns the normalized form of a person's name, which is stored in `name_key` and used for comparisons. Ignores
 * letter case, width, invisible characters and surrounding whitespace.
 */
export function nameKey(name: string): string {
  return name
    .trim()
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '');
}
