/**
 * Scripts in which a joiner or non-joiner changes the shapes of letters: cursive scripts, and scripts with conjuncts.
 */
const shapingScripts = scripts(
  ...['Arab', 'Syrc', 'Mand', 'Mong', 'Nkoo', 'Phag', 'Adlm', 'Rohg'],
  ...['Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh', 'Khmr', 'Mymr', 'Tibt'],
  ...['Bali', 'Java', 'Sund', 'Lana', 'Cakm'],
);
/** Scripts without blanks between words, in which a zero-width space marks where a line may break. */
const unspacedScripts = scripts('Khmr', 'Laoo', 'Mymr', 'Thai', 'Lana');
const rightToLeftScripts = scripts('Hebr', 'Arab', 'Syrc', 'Thaa', 'Nkoo', 'Adlm', 'Rohg', 'Mand', 'Samr');

const shaping = `(?:(?=[\\p{L}\\p{M}])[${shapingScripts}])`;
const unspaced = `(?:(?=[\\p{L}\\p{M}])[${unspacedScripts}])`;
/** Marks that remove a consonant's vowel. A joiner may also follow them at the end of a word. */
const viramas =
  '[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d3b\\u0d3c\\u0d4d\\u0dca\\u0f84\\u1039\\u103a\\u17d2\\u1a60\\u1b44\\u1bab\\ua953\\ua9c0\\u{11133}]';

/** Places where invisible characters change how their neighbors look. Based on RFC 5892, appendix A, and UTS 51. */
const invisibleInPlace = [
  // Emoji composed of several, such as families and professions.
  '(?<=\\p{Extended_Pictographic}[\\ufe0f\\p{Emoji_Modifier}]?)\\u200d(?=\\p{Extended_Pictographic})',
  // Flags of regions. The tags spell the region; elsewhere they could spell any text.
  '(?<=\\u{1f3f4})[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{3,6}\\u{e007f}',
  '(?<=\\p{Extended_Pictographic})[\\ufe0e\\ufe0f]',
  '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
  `(?<=${shaping})[\\u200c\\u200d](?=${shaping})`,
  // A suffix that Persian writers add to a number, a word in Latin letters or a quotation.
  '(?<=[\\p{L}\\p{N}\\p{Pe}\\p{Pf}])\\u200c(?=(?=\\p{L})\\p{Script=Arab})',
  `(?<=${viramas})[\\u200c\\u200d]`,
  // The abbreviation of the Hijri era.
  '(?<=\\u0647)\\u200d',
  `(?<=${unspaced})\\u200b(?=${unspaced})`,
  // Variants of one character, as in Japanese names.
  '(?<=\\p{Script=Han})[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]',
  '(?<=[\\p{Sm}\\p{Script=Mymr}])\\ufe00',
  '(?<=\\p{Script=Mong})[\\u180b-\\u180f]',
].join('|');
const unsuitable =
  '[\\p{Cc}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\p{Noncharacter_Code_Point}\\p{Default_Ignorable_Code_Point}\\ufff9-\\ufffb]';
const scan = new RegExp(`(?:${invisibleInPlace})|(${unsuitable})`, 'gu');

const rightToLeft = new RegExp(`(?=\\p{L})[${rightToLeftScripts}]`, 'u');
/** Direction marks that override nothing. They have an effect only next to letters of right-to-left scripts. */
const directionMark = /[\u200e\u200f\u061c]/;
const visible = /(?![\p{Default_Ignorable_Code_Point}\u2800\ufffc])[\p{L}\p{N}\p{P}\p{S}]/u;

/**
 * Describes what is wrong with the characters of a name, in a sentence about `what`, such as `channel name`;
 * `undefined` if the name is valid. This rule applies to the names of people, groups, channels, topics and everything
 * else. A name must have a visible character. It must not have control characters, line breaks or private-use
 * characters. Invisible characters are allowed only where they change how a name looks, such as a joiner between
 * Persian letters. Otherwise two names could look alike. No character may reverse the text. Positions count code points
 * from 1. `end` ends the sentence about a character.
 */
export function nameProblem(what: string, name: string, end = '.'): string | undefined {
  const position = unsuitablePosition(name);
  if (position !== undefined) return `Invalid character in ${what}, at position ${position}${end}`;
  return visible.test(name) ? undefined : `The ${what} has no visible character.`;
}

function unsuitablePosition(name: string): number | undefined {
  // Most names are ASCII, and the scan is slow.
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
