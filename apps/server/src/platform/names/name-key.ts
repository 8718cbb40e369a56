/**
 * Returns the form of a person's name that is compared and stored in `name_key`. Ignores letter case, width,
 * invisible characters and surrounding whitespace.
 */
export function nameKey(name: string): string {
  return name
    .trim()
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '');
}
