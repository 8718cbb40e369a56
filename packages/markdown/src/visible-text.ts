/**
 * Characters that draw nothing, as the inside of a class with the flag `u`: blanks, controls, joiners, tags and variation
 * selectors. Also blank symbols that Unicode does not list as ignorable: Braille, musical and Khitan ones, and the marks of
 * annotations, objects and hieroglyphs.
 */
export const invisibleCharacters =
  '\\p{Z}\\p{Cc}\\p{Cs}\\p{Noncharacter_Code_Point}\\p{Default_Ignorable_Code_Point}\\u2800\\ufff9-\\ufffc\\u{13430}-\\u{13442}\\u{16fe4}\\u{1d159}';
const visible = new RegExp(`[^${invisibleCharacters}]`, 'u');

/**
 * Whether a text has a character that readers see. A character that this version of Unicode does not assign counts as
 * visible, because it may be a new emoji.
 */
export function hasVisibleCharacter(text: string): boolean {
  return visible.test(text);
}
