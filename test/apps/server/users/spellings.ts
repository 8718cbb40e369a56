/** Respells a text so that readers may mistake it for the original. */
export type Spelling = (text: string) => string;

const shifted =
  (upper: number, lower: number): Spelling =>
  (text) =>
    text.replace(/[A-Za-z]/g, (letter) => {
      const isUpper = letter < 'a';
      const index = letter.toLowerCase().charCodeAt(0) - 97;
      return String.fromCodePoint((isUpper ? upper : lower) + index);
    });

const replaced =
  (from: string, to: string): Spelling =>
  (text) => {
    const [letters, others] = [[...from], [...to]];
    return [...text].map((letter) => others[letters.indexOf(letter)] ?? letter).join('');
  };

const inUpperCase =
  (from: string, to: string): Spelling =>
  (text) =>
    replaced(from, to)(text.toUpperCase());

const between =
  (inserted: string): Spelling =>
  (text) =>
    [...text].join(inserted);

const everySecond =
  (spelling: Spelling): Spelling =>
  (text) =>
    [...text].map((letter, index) => (index % 2 === 0 ? letter : spelling(letter))).join('');

/** Replaces letters with lookalikes. */
export const otherLetters: Readonly<Record<string, Spelling>> = {
  'upper case': (text) => text.toUpperCase(),
  'lower case': (text) => text.toLowerCase(),
  'mixed case': everySecond((text) => text.toUpperCase()),
  fullwidth: shifted(0xff21, 0xff41),
  'mathematical bold': shifted(0x1d400, 0x1d41a),
  'mathematical bold italic': shifted(0x1d468, 0x1d482),
  'mathematical bold script': shifted(0x1d4d0, 0x1d4ea),
  'mathematical bold fraktur': shifted(0x1d56c, 0x1d586),
  'mathematical double-struck': (text) =>
    shifted(0x1d538, 0x1d552)(text.replace(/[CHNPQRZ]/g, (c) => c.toLowerCase())),
  'mathematical monospace': shifted(0x1d670, 0x1d68a),
  'mathematical sans-serif': shifted(0x1d5a0, 0x1d5ba),
  circled: shifted(0x24b6, 0x24d0),
  'white on black circles': shifted(0x1f150, 0x1f150),
  'white on black squares': shifted(0x1f170, 0x1f170),
  squared: shifted(0x1f130, 0x1f130),
  parenthesized: shifted(0x1f110, 0x249c),
  'regional indicators': shifted(0x1f1e6, 0x1f1e6),
  Cyrillic: replaced('aceiopsxyABCEHIKMOPSTXY', 'асеіорѕхуАВСЕНІКМОРЅТХУ'),
  'Cyrillic and Komi': replaced('dhqwGWo', 'ԁһԛԝԌԜо'),
  Greek: replaced('aoivpuxynABEHIKMNOPTXYZ', 'αοινρυχγηΑΒΕΗΙΚΜΝΟΡΤΧΥΖ'),
  Armenian: replaced('ghnosuwqO', 'ցհոօտսաԳՕ'),
  Cherokee: replaced('ABCDEGHKLMPRSTVWZ', 'ᎪᏴᏟᎠᎬᏀᎻᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃ'),
  Coptic: replaced('cioprtCOPTNW', 'ⲥⲓⲟⲣⲅⲧⲤⲞⲢⲦⲚⲰ'),
  'small capitals': replaced('abcdefgiklmnoprstuwyz', 'ᴀʙᴄᴅᴇꜰɢɪᴋʟᴍɴᴏᴘʀꜱᴛᴜᴡʏᴢ'),
  'Latin lookalikes': replaced('agioyf', 'ɑɡıoɣꞙ'),
  'with strokes': replaced('bdhiloty', 'ƀđħɨłøŧɏ'),
  'a digit zero': replaced('oO', '00'),
  'a digit one': replaced('il', '11'),
  'a capital i for l': replaced('l', 'I'),
  'an l for i': replaced('i', 'l'),
  'r and n for m': (text) => text.replaceAll('m', 'rn'),
  'two v for w': (text) => text.replaceAll('W', 'VV').replaceAll('w', 'vv'),
  'a bar for i': replaced('i', '|'),
  'digits for letters': replaced('abegiostzABEGIOSTZ', '483610572483610572'),
  'symbols for letters': replaced('cehisCEHIS', '(€#!$(€#!$'),
  'circles for o': replaced('oO', '○⭕'),
  'other circles for o': replaced('oO', '°∅'),
  'shapes for letters': replaced('abcdefilmnstANEF', '∆฿⊂∂∑£¡£ʍ∩§†▲₦∑£'),
  'syllabics and signs': replaced('cnotCNOT', 'ᑕᑎ◉‡ᑕᑎ●┼'),
  'Chinese and Bopomofo': inUpperCase(
    'ABCEFHIJKLMNOPRSTUWXYZ',
    '卂乃匚乇千卄丨フҜㄥ爪几ㄖ卩尺丂ㄒㄩ山乂ㄚ乙',
  ),
  Ethiopic: inUpperCase('ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'ልጌርዕቿቻኗዘጎጋጕረጠክዐየዒዪነፕሁሀሠሸሃጊ'),
  'Thai and Hebrew': replaced('abcdghilmnoprsuvwxy', 'ค๒ς๔gђเɭ๓ภ๏\u05e7гรย\u05e9ฬ\u05d0\u05e5'),
  superscript: replaced('abcdefgiklmnoprtuwy', 'ᵃᵇᶜᵈᵉᶠᵍⁱᵏˡᵐⁿᵒᵖʳᵗᵘʷʸ'),
};

/** Inserts invisible or nearly invisible characters. */
export const inserted: Readonly<Record<string, Spelling>> = Object.fromEntries(
  [
    ...[
      0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0xad, 0x34f, 0x61c, 0x180e, 0x200e, 0x200f, 0x202a, 0x202c,
      0x2066, 0x2069,
    ],
    ...[0x115f, 0x1160, 0x3164, 0xffa0, 0xfe0f, 0xe0061, 0xe007f, 0x2800, 0x1d173],
    ...[0x301, 0x323, 0x336, 0x20dd, 0x489, 0x64b, 0x93c],
  ].map((code) => [`U+${code.toString(16)}`, between(String.fromCodePoint(code))]),
);

/** Puts unusual spaces and symbols between or around the words. */
export const otherBlanks: Readonly<Record<string, Spelling>> = Object.fromEntries(
  [
    '',
    '  ',
    '.',
    '..',
    '-',
    '_',
    '·',
    '・',
    '\u00a0',
    '\u2003',
    '\u3000',
    '\u205f',
    '/',
    '|',
    ' ★ ',
    ' | ',
    ' ™ ',
    '®',
    ' ℠',
  ].map((blank) => [
    JSON.stringify(blank),
    (text: string) => `${blank}${text.replaceAll(/[ -]/g, blank)}${blank}`,
  ]),
);
