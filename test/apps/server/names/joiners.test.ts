import { describe, expect, it } from 'vitest';
import { nameProblem } from '#server/platform/names/name-problem.js';
import fc from '../../../support/fast-check.js';

const problem = (name: string) => nameProblem('name', name);

/** Correctly spelled words, by language. */
const words: Readonly<Record<string, readonly string[]>> = {
  Persian: [
    ...[
      'علی\u200cرضا',
      'کووید\u200c۱۹',
      'کووید\u200c19',
      'آی\u200cپی\u200cv6',
      'کتاب\u200cPDF',
      'PDF\u200cها',
    ],
    ...[
      'خانه\u200cهای',
      'دانش\u200cآموز\u200c(ان)',
      '"کتاب"\u200cها',
      'کتاب\u200c«نو»',
      '۲۰٪\u200cها',
      'آزاد\u200cراه',
    ],
    ...['ص\u200d. ۱۲', 'ج\u200d', '۱۴۰۲ ه\u200d.ق', 'مدّ\u200cها', 'می\u200cآید'],
  ],
  Urdu: ['محمد\u200cعلی', 'بے\u200cچین', 'ونڈوز\u200c11', '۱۹۴۷ء', 'ہ\u200d'],
  Kurdish: ['هه\u200cولێر', 'كورده\u200cكان', 'ه\u200dه'],
  Khmer: [
    ...[
      'ខ្មែរ\u200bភាសា',
      'សួស្តី។\u200bអរគុណ',
      'ឆ្នាំ\u200b២០២០',
      '២០២០\u200bឆ្នាំ',
      'ឯកសារ\u200bPDF\u200bថ្មី',
      'ធំៗ\u200bណាស់',
    ],
    ...['ប៉\u200cិ', 'ស៊\u200cី', '(\u200bខ្មែរ\u200b)', 'ខ្មែរ\u200b។'],
  ],
  Myanmar: ['မြန်မာ\u200bစာ', 'မြန်မာ။\u200bဘာသာ', '၂၀\u200bနှစ်', 'သင်္ကြန်', 'က္\u200cက'],
  Thai: ['ไทย\u200bไทย', 'ปี\u200b2567', 'ไทย\u200bPDF'],
  Lao: ['ລາວ\u200bພາສາ', 'ລາວ\u200b(PDF)'],
  Sinhala: ['ශ්\u200dරී ලංකා', 'ක්\u200dෂණ', 'ධර්\u200dම', 'විද්\u200dයා', 'බුද්\u200cධ'],
  Malayalam: ['അവന്\u200d', 'കാര്\u200dഡ്', 'പാല്\u200d2', 'തമിഴ്\u200cനാട്', 'ന്\u200d'],
  Hindi: ['क्\u200dष', 'श्री\u0902', 'राज्\u200cय', 'अ\u200dॅ', 'द्\u200cवारा'],
  Bengali: ['র\u200d্যাব', 'ত্\u200d', 'অ্\u200cযা', 'ক্\u200cষ'],
  Kannada: ['ರ\u200d್ಕ', 'ಕ್\u200cಷ', 'ವಿಕ್\u200c'],
  Telugu: ['రాజ్\u200cకుమార్', 'బ్\u200c2'],
  Tamil: ['க்\u200cஷ', 'ஸ்ரீ'],
  Tibetan: ['བོད་ཡིག', 'བཀྲ་ཤིས།', 'བླ་མ༌', 'ཧཱུྃ', 'ཀ྄\u200dཀ'],
  Mongolian: ['ᠮᠣᠩ\u180eᠠ', 'ᠭᠠᠵᠠᠷ\u202fᠤᠨ'],
  emoji: [
    ...[
      '👩\u200d💻',
      '👨\u200d👩\u200d👧\u200d👦',
      '🏳\ufe0f\u200d⚧\ufe0f',
      '🧑🏽\u200d🤝\u200d🧑🏿',
      '👁\ufe0f\u200d🗨\ufe0f',
      '#\ufe0f⃣',
    ],
    ...[
      '🏃🏽\u200d♀\ufe0f\u200d➡\ufe0f',
      '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
      'علی 👩\u200d💻',
    ],
  ],
};

/** Invisible characters without effect, and marks without a letter. */
const attacks: Readonly<Record<string, string>> = {
  'a joiner between Hindi letters without a virama': 'क\u200dख',
  'a non-joiner between Hindi letters without a virama': 'क\u200cख',
  'a joiner between Tamil letters': 'க\u200dக',
  'a virama of another script behind a Latin letter': 'A\u094d\u200dB',
  'two joiners behind a virama': 'क्\u200d\u200d',
  'a joiner and a non-joiner between Persian letters': 'ع\u200d\u200cل',
  'a joiner behind an Arabic letter that joins nothing': 'د\u200d',
  'a joiner between an Arabic letter and a digit of a phone': 'د\u200d5',
  'a joiner between a Persian and a Latin letter': 'ه\u200dA',
  'a non-joiner between an Arabic letter and an emoji': 'ع\u200c😀',
  'a non-joiner at the start': '\u200cعلی',
  'a non-joiner between Latin letters of a Persian name': 'علی A\u200cB',
  'a non-joiner between digits of a Persian name': 'علی 1\u200c2',
  'two breaks': 'ខ្មែរ\u200b\u200bខ្មែរ',
  'a break at the end': 'ខ្មែរ\u200b',
  'a break at the start': '\u200bខ្មែរ',
  'a break before a blank': 'ខ្មែរ\u200b ខ្មែរ',
  'a break between Latin letters of a Khmer name': 'ខ្មែរ A\u200bB',
  'a break between Arabic letters': 'ع\u200bل',
  'a joiner between Khmer letters': 'ខ\u200dម',
  'a joiner between Thai letters': 'ท\u200dย',
  'a joiner between Hebrew letters': 'ש\u200dל',
  'a joiner behind a joined emoji': '👩\u200d💻\u200d',
  'a joiner between an emoji and a digit': '💻\u200d1',
};

describe('a word with joiners', () => {
  it.each(Object.entries(words))('is allowed in a name: %s', (_language, list) => {
    for (const word of list) {
      expect([word, problem(word)]).toEqual([word, undefined]);
      expect([word, problem(`Ada ${word} Lovelace`)]).toEqual([word, undefined]);
    }
  });

  it('is allowed beside any other word', () => {
    const word = fc.constantFrom(...Object.values(words).flat());
    fc.assert(
      fc.property(fc.array(word, { minLength: 2, maxLength: 5 }), (list) => {
        expect(problem(list.join(' '))).toBeUndefined();
      }),
    );
  });
});

it.each(Object.entries(attacks))('a name cannot have %s', (_what, name) => {
  expect(problem(name)).toMatch(/^Invalid character in name, at position \d+\.$/);
});

describe('a joiner', () => {
  const letters = (pattern: RegExp, first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)).filter(
      (each) => pattern.test(each),
    );
  const joiner = fc.constantFrom('\u200c', '\u200d');
  /** The consonants and the virama of each script. */
  const scripts = {
    Devanagari: [letters(/\p{L}/u, 0x915, 0x939), '\u094d'],
    Bengali: [letters(/\p{L}/u, 0x995, 0x9b9), '\u09cd'],
    Gujarati: [letters(/\p{L}/u, 0xa95, 0xab9), '\u0acd'],
    Tamil: [letters(/\p{L}/u, 0xb95, 0xbb9), '\u0bcd'],
    Telugu: [letters(/\p{L}/u, 0xc15, 0xc39), '\u0c4d'],
    Kannada: [letters(/\p{L}/u, 0xc95, 0xcb9), '\u0ccd'],
    Malayalam: [letters(/\p{L}/u, 0xd15, 0xd39), '\u0d4d'],
    Sinhala: [letters(/\p{L}/u, 0xd9a, 0xdc6), '\u0dca'],
    Khmer: [letters(/\p{L}/u, 0x1780, 0x17a2), '\u17d2'],
    Myanmar: [letters(/\p{L}/u, 0x1000, 0x1020), '\u1039'],
  } as const;

  it.each(Object.entries(scripts))('is allowed only after the virama in %s', (_script, [list, virama]) => {
    const letter = fc.constantFrom(...list);
    fc.assert(
      fc.property(letter, joiner, letter, (before, between, after) => {
        expect(problem(`${before}${virama}${between}${after}`)).toBeUndefined();
        expect(problem(`${before}${between}${after}`)).toContain('at position 2');
        expect(problem(`${before}${virama}${between}${between}${after}`)).toContain('at position 4');
      }),
    );
  });

  it('is allowed between two letters or digits if it is a non-joiner and one of them is an Arabic letter', () => {
    // Excludes the kashida, which belongs to several scripts.
    const arabicLetter = /(?=\p{L})\p{Script=Arab}/u;
    const arabic = fc.constantFrom(
      ...letters(arabicLetter, 0x620, 0x64a),
      ...letters(arabicLetter, 0x671, 0x6d3),
    );
    const other = fc.constantFrom(...'AZaz09é٠٩۰۹ЖΩ日');
    fc.assert(
      fc.property(arabic, other, other, (letter, one, two) => {
        expect(problem(`${letter}\u200c${one}`)).toBeUndefined();
        expect(problem(`${one}\u200c${letter}`)).toBeUndefined();
        expect(problem(`${letter} ${one}\u200c${two}`)).toContain('at position 4');
        expect(problem(`${one}\u200d${letter}`)).toContain('at position 2');
      }),
    );
  });
});
