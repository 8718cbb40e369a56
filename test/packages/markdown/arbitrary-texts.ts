import fc from '../../support/fast-check.js';

/** Fragments of chat Markdown syntax, and fragments that are easily mistaken for it. */
export const pieces: readonly string[] = [
  ...'>[]()*_`~$|<#@:&\\!-+.=/{}"\'^1a é\n\t',
  '](',
  '![',
  '**',
  '***',
  '```',
  '~~~',
  '~~',
  '$$',
  '\n\n',
  '\n  ',
  '\n    ',
  '> ',
  '- ',
  '1. ',
  '# ',
  '| a | b |\n|--|--|\n',
  '```quote\n',
  '```spoiler x\n',
  '```math\n',
  '```js\n',
  '\n```\n',
  '~~~py\n',
  '[x](<',
  '[x](a "',
  '[[a](b)',
  '<!--',
  '</',
  '<time:',
  '<time:1>',
  '<http://',
  'http://a',
  'https://a.b/',
  '://',
  '//a.b/',
  'ahttps://a.b/é',
  'www.',
  'a.com ',
  'a@b.co ',
  'mailto:a',
  '&amp',
  '&#x41;',
  ':smile:',
  ':our_logo:',
  '🙂',
  '👨‍👩‍👧',
  '\u200d',
  '\u{1F1E6}',
  '\uD800',
  '\0',
  '\r',
  '@**',
  '@_**',
  '@*',
  '@**all**',
  '@**Ada Lovelace|10** ',
  '@*core team* ',
  '#**',
  '#**general talk** ',
  '#**general talk>lunch** ',
  '#**general talk>lunch@7** ',
  '#12 ',
  '\\frac',
  '\\left(',
  '\\text{',
  '\\def\\a{\\a\\a}\\a',
  '$$x$$ ',
  '```math\nx\n```\n',
  '```js\nx\n```\n',
];

const piece = fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 3 }));

/** Texts that consist of these fragments in random order. */
export const arbitraryText = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(''));

/** Texts of the maximum length that repeat a few fragments. */
export const arbitraryLongText = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 4 }), fc.array(piece, { maxLength: 3 }))
  .map(([repeated, first]) => fill(first.join(''), repeated.join('')));

/** A text of exactly 10,000 code points: `first`, then `repeated` until the text is full. */
export function fill(first: string, repeated: string): string {
  const text = repeated === '' ? 'a' : repeated;
  return [...(first + text.repeat(Math.ceil(10_000 / [...text].length)))].slice(0, 10_000).join('');
}

const texCommands = (
  'frac sqrt text textit emph verb mathbb mathcal mathfrak mathrm mathbf boldsymbol pmb color textcolor colorbox fbox boxed ' +
  'left right big middle over atop choose binom underbrace overbrace overline hat vec widehat xrightarrow rule kern hspace ' +
  'phantom smash raisebox tag label def gdef let futurelet newcommand expandafter noexpand show message errmessage typeout ' +
  'origof imageof char grave not prime limits substack begin end hline cr displaystyle tiny Huge href url includegraphics ' +
  'htmlClass htmlId htmlStyle htmlData oiint sect alpha to dots bmod operatorname mathchoice cancel angl CD'
).split(' ');
const texPieces = [
  ...'{}[]x2^_&~%\'"<>|()@#$éж漢🙂⊶ ',
  '\\\\',
  '{a}',
  '1em',
  '#1',
  '@>>>',
  '\\begin{CD}',
  '\\begin{array}{cc}',
];

/** Formulas that consist of these commands in random order. */
export const arbitraryTex = fc
  .array(
    fc.oneof(
      fc.constantFrom(...texPieces),
      fc
        .tuple(fc.constantFrom(...texCommands), fc.constantFrom('{', ' ', '{a}', '{1em}', '{red}{'))
        .map(([command, rest]) => `\\${command}${rest}`),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));
