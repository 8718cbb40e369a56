/**
 * Invisible characters, for use inside a character class of a regular expression with the `u` flag: blanks, controls,
 * joiners, tags and variation selectors. Also includes blank symbols that Unicode does not list as ignorable: blanks in
 * Braille, musical notation and Khitan script, and the marks that delimit annotations, objects and hieroglyphs.
 */
export const invisibleCharacters =
  '\\p{Z}\\p{Cc}\\p{Cs}\\p{Noncharacter_Code_Point}\\p{Default_Ignorable_Code_Point}\\u2800\\ufff9-\\ufffc\\u{13430}-\\u{13442}\\u{16fe4}\\u{1d159}';
const visible = new RegExp(`[^${invisibleCharacters}]`, 'u');

/**
 * Returns whether a text contains a visible character. An unassigned character counts as visible, because it may be an
 * emoji from a later Unicode version.
 */
export function hasVisibleCharacter(text: string): boolean {
  return visible.test(text);
}
