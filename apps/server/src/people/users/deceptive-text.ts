import { exactLookalikes } from './lookalikes.js';

/**
 * Letters and digits that UTS 39 maps to an ASCII digit, to ASCII punctuation or to several ASCII letters, such as б,
 * ʼ and Ю. Omits the Hebrew yod, because it would make many names look like ASCII. Includes the dotless j.
 */
const otherLookalikes =
  'ƧȜƷƼȣȢЗӠбӔӕЫЮ\u{5f0}\u{660}\u{6f0}\u{7fa}৪੪୨৭൭\u{a67}\u{9e7}\u{b03}\u{c02}\u{c82}\u{d02}\u{d82}ʹʺʻʼʽʾˈˊˋˆˮːǃʔɁॽȷ';

/** East Asian characters that look like ASCII punctuation between Latin letters. Chrome also restricts them. */
const eastAsianStrokes = 'ー一ノソゾン丶丿乀乁丨亅';

const lookalikes = new Set([
  ...Object.values(exactLookalikes).join(''),
  ...otherLookalikes,
  ...eastAsianStrokes,
]);

/**
 * Scripts with enough font support. Letters in other scripts are rejected, because few fonts distinguish them from
 * symbols.
 */
const alphabets: readonly RegExp[] = [
  ...['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Georgian', 'Hebrew', 'Arabic', 'Thaana', 'Ethiopic'],
  ...['Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam'],
  ...['Sinhala', 'Thai', 'Lao', 'Tibetan', 'Myanmar', 'Khmer'],
].map((script) => new RegExp(`\\p{Script=${script}}`, 'u'));
const eastAsian =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}]/u;

/** Small capitals and letters of phonetic alphabets, which look like Latin letters. */
const phonetic = /[ɢɪɴʀʏʙʛʜʟ\u1d00-\u1dbf\ua720-\ua7ff\uab30-\uab6f]/;

/** Letters of rarely written languages. Few fonts and readers distinguish these letters from Latin letters. */
const rare = /[\u0460-\u0481\u0500-\u052f\u1c80-\u1c8f\ua640-\ua69f]/;

interface Leniency {
  readonly mayLookLatin: boolean;
  readonly isTurkic: boolean;
}

/**
 * Returns whether a part of an address can be mistaken for different text. True for invisible characters, symbols,
 * loose combining marks, compatibility forms such as fullwidth, mixed scripts, and text that as a whole looks like
 * ASCII, such as the Cyrillic сара (whole-script confusables of UTS 39, section 4). Latin and East Asian letters may be
 * mixed, as in the "Highly Restrictive" level of UTS 39. Pure ASCII is never deceptive. With `mayLookLatin`, words in
 * another alphabet may look like ASCII. With `isTurkic`, the dotless i counts as an ordinary letter.
 */
export function isDeceptive(part: string, { mayLookLatin, isTurkic }: Leniency): boolean {
  const foreign = [...part].filter((character) => !/[\x20-\x7e]/.test(character));
  if (foreign.length === 0) return false;
  if (part.normalize('NFKC') !== part || phonetic.test(part)) return true;
  return (
    foreign.some((character) => !isOrdinary(character)) ||
    (foreign.every((each) => lookalikes.has(each) && !(isTurkic && each === 'ı')) &&
      !(mayLookLatin && isOfOtherAlphabet(part))) ||
    hasSeveralAlphabets(part)
  );
}

/** Returns whether a character is a letter, a digit or a script's own combining mark, and is visible. */
function isOrdinary(character: string): boolean {
  if (/[\p{Script=Inherited}\p{Default_Ignorable_Code_Point}]/u.test(character)) return false;
  return /[\p{L}\p{Mn}\p{Mc}\p{Nd}]/u.test(character);
}

/** Returns whether a part has neither Latin nor {@link rare} letters. It may still mix several alphabets. */
function isOfOtherAlphabet(part: string): boolean {
  return !/\p{Script=Latin}/u.test(part) && !rare.test(part);
}

function hasSeveralAlphabets(part: string): boolean {
  const letters = [...part].filter((character) => /(?=[\p{L}\p{M}])\P{Script=Common}/u.test(character));
  const others = letters.filter((letter) => !eastAsian.test(letter));
  if (others.some((letter) => !alphabets.some((alphabet) => alphabet.test(letter)))) return true;
  const used = alphabets.filter((alphabet) => others.some((letter) => alphabet.test(letter)));
  const isEastAsian = others.length < letters.length;
  return used.length > 1 || (isEastAsian && used.some((alphabet) => !alphabet.test('a')));
}
