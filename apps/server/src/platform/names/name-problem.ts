import { invisibleCharacters } from '@waxwing/markdown';

/** Cursive scripts, in which joiners change the shapes of letters (UAX 31, contexts A1). */
const cursiveScripts = scripts('Arab', 'Syrc', 'Mand', 'Mong', 'Nkoo', 'Phag', 'Adlm', 'Rohg');
/** Scripts with conjuncts, which joiners form or prevent (UAX 31, contexts A2 and B). */
const conjunctScripts = scripts(
  ...['Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh', 'Khmr', 'Mymr', 'Tibt'],
  ...['Bali', 'Java', 'Sund', 'Lana', 'Cakm', 'Rjng'],
);
/** Scripts without spaces between words, in which a zero-width space marks where a line may break (UAX 14). */
const unspacedScripts = scripts(
  ...['Khmr', 'Laoo', 'Mymr', 'Thai', 'Lana', 'Tale', 'Talu', 'Tavt', 'Ahom', 'Java', 'Bali'],
);
const rightToLeftScripts = scripts('Hebr', 'Arab', 'Syrc', 'Thaa', 'Nkoo', 'Adlm', 'Rohg', 'Mand', 'Samr');

const cursive = `(?:(?=[\\p{L}\\p{M}])[${cursiveScripts}])`;
const arabicLetter = '(?:(?=\\p{L})\\p{Script=Arab})';
/** Right-joining and non-joining letters of Arabic. A joiner after such a letter does not change its shape. */
const endingLetters =
  '\\u0621-\\u0625\\u0627\\u0629\\u062f-\\u0632\\u0648\\u0671-\\u0677\\u0688-\\u0699\\u06c0\\u06c3-\\u06cb\\u06cd\\u06cf\\u06d2\\u06d3\\u06d5\\u06ee\\u06ef';
const conjunct = `(?:(?=[\\p{L}\\p{M}])[${conjunctScripts}])`;
const conjunctMark = `(?:(?=\\p{M})[${conjunctScripts}])`;
const unspaced = `(?:(?=[\\p{L}\\p{M}\\p{N}\\p{P}])[${unspacedScripts}])`;
const printed = '[\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}]';
/** Marks that remove a consonant's vowel. A joiner may also follow them at the end of a word. */
const viramas =
  '[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d3b\\u0d3c\\u0d4d\\u0dca\\u0f84\\u1039\\u103a\\u17d2\\u1a60\\u1b44\\u1bab\\ua953\\ua9c0\\u{11133}]';

/**
 * Contexts in which invisible characters change how their neighbors look, or are part of a language's spelling. Based
 * on the contexts in UAX 31, section 2.3, RFC 5892, appendix A, and UTS 51.
 */
const invisibleInPlace = [
  // Joiners in emoji that are composed of several emoji, such as families and professions.
  '(?<=\\p{Extended_Pictographic}[\\ufe0f\\p{Emoji_Modifier}]?)\\u200d(?=\\p{Extended_Pictographic})',
  // Tag characters in a region's flag, where they spell the region's code. Elsewhere they could spell arbitrary text.
  '(?<=\\u{1f3f4})[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{3,6}\\u{e007f}',
  '(?<=\\p{Extended_Pictographic})[\\ufe0e\\ufe0f]',
  '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
  `(?<=${cursive})[\\u200c\\u200d](?=${cursive})`,
  // Persian has a non-joiner between a word and a number, a word in Latin letters, a bracket or a quotation mark.
  `(?<=[\\p{L}\\p{N}\\p{Pe}\\p{Pf}"'%\\u066a])\\u200c(?=${arabicLetter})`,
  `(?<=${arabicLetter}\\p{Mn}?)\\u200c(?=[\\p{L}\\p{N}\\p{Ps}\\p{Pi}"'])`,
  // A joiner at the end of an Arabic abbreviation, such as the one for the Hijri era, gives the letter its mid-word
  // shape.
  `(?<=(?![${endingLetters}])${arabicLetter})\\u200d(?!\\p{L})`,
  `(?<=${conjunct}${viramas}\\p{Mn}?)[\\u200c\\u200d]`,
  // Joiners before a virama or a vowel sign, as in Bengali and Kannada, and before a register shifter in Khmer.
  `(?<=${conjunct})[\\u200c\\u200d](?=${conjunctMark})`,
  `(?<=${unspaced})\\u200b(?=${printed})`,
  `(?<=${printed})\\u200b(?=${unspaced})`,
  // Variation selectors after a Chinese character, as in Japanese names.
  '(?<=\\p{Script=Han})[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]',
  '(?<=[\\p{Sm}\\p{Script=Mymr}])\\ufe00',
  '(?<=\\p{Script=Mong})[\\u180b-\\u180f]',
].join('|');
const unsuitable =
  '[\\p{Cc}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\p{Noncharacter_Code_Point}\\p{Default_Ignorable_Code_Point}\\ufff9-\\ufffb]';
const scan = new RegExp(`(?:${invisibleInPlace})|(${unsuitable})`, 'gu');

const rightToLeft = new RegExp(`(?=\\p{L})[${rightToLeftScripts}]`, 'u');
/** Marks that do not override the text direction. They have an effect only next to letters of right-to-left scripts. */
const directionMark = /[\u200e\u200f\u061c]/;
const visible = new RegExp(`(?![${invisibleCharacters}])[\\p{L}\\p{N}\\p{P}\\p{S}]`, 'u');

/**
 * Validates the characters of a name. Returns `undefined` if the name is valid, otherwise a sentence about the problem.
 * In the sentence, `what` describes the name, such as `channel name`. The rules apply to all names: of people, groups,
 * channels, topics and so on. A name must have a visible character. It must not have control characters, line breaks,
 * private-use characters, or characters that override the text direction. Invisible characters are allowed only where
 * they change how a name looks, such as a joiner between Persian letters. Otherwise two different names could look the
 * same. Positions in the sentence count code points from 1. `end` is appended to the sentence about an invalid
 * character.
 */
export function nameProblem(what: string, name: string, end = '.'): string | undefined {
  const position = unsuitablePosition(name);
  if (position !== undefined) return `Invalid character in ${what}, at position ${position}${end}`;
  return visible.test(name) ? undefined : `The ${what} has no visible character.`;
}

function unsuitablePosition(name: string): number | undefined {
  // Fast path for ASCII, because the scan is slow.
  if (/^[\x20-\x7e]*$/.test(name)) return undefined;
  const hasRightToLeft = rightToLeft.test(name);
  for (const { 1: character, index } of name.matchAll(scan)) {
    if (character === undefined || (hasRightToLeft && directionMark.test(character))) continue;
    return [...name.slice(0, index)].length + 1;
  }
  return undefined;
}

function scripts(...names: readonly string[]): string {
  return names.map((name) => `\\p{Script_Extensions=${name}}`).join('');
}
