/**
 * Characters that draw nothing: blanks, controls, joiners, tags and variation selectors. Also blank symbols that Unicode
 * does not list as ignorable: Braille, musical and Khitan ones, and the marks of annotations, objects and hieroglyphs.
 */
const invisible =
  '\\p{Z}\\p{Cc}\\p{Cs}\\p{Noncharacter_Code_Point}\\p{Default_Ignorable_Code_Point}\\u2800\\ufff9-\\ufffc\\u{13430}-\\u{1343f}\\u{16fe4}\\u{1d159}';
const visible = new RegExp(`[^${invisible}]`, 'u');

/**
 * Whether a text has a character that readers see. A character that this version of Unicode does not assign counts as
 * visible, because it may be a new emoji.
 */
export function hasVisibleCharacter(text: string): boolean {
  return visible.test(text);
}
