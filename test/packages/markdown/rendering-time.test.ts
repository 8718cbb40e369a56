import { contentHtmlDiff, findReferences, knownLanguages, renderMarkdown } from '@waxwing/markdown';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import { processorMilliseconds, slownessOfMachine } from '../../support/processor-time.js';
import { facts } from './facts.js';
import { arbitraryLongText, fill, pieces } from './nasty-texts.js';

/** What rendering the longest message may take, or comparing two, on a machine of usual speed: so long others wait. */
const limitMilliseconds = 50;

function isSlow(run: () => unknown): boolean {
  const milliseconds = processorMilliseconds(run, limitMilliseconds / 2);
  return milliseconds > limitMilliseconds && milliseconds > limitMilliseconds * slownessOfMachine();
}

function slow(texts: readonly string[]): string[] {
  return texts.filter((text) => isSlow(() => renderMarkdown(text, facts))).map((text) => text.slice(0, 60));
}

describe('a message of 10,000 code points is rendered in time', () => {
  it('whatever one piece of syntax it repeats, alone, in lines and in cells', () => {
    const texts = pieces.flatMap((piece) => [
      fill('', piece),
      fill('a ', piece),
      fill('', `${piece.repeat(40).slice(0, 80)}\n`),
      fill('|a|b|\n|-|-|\n', `|${piece.replaceAll('\n', ' ').repeat(20).slice(0, 60)}|\n`),
      fill('', piece).slice(0, 5_000) + [...fill('', piece).slice(0, 5_000)].reverse().join(''),
    ]);
    expect(slow(texts)).toEqual([]);
  });

  it('whatever pieces it is made of', () => {
    fc.assert(
      fc.property(arbitraryLongText, (text) => {
        expect(slow([text])).toEqual([]);
        expect(isSlow(() => findReferences(text))).toBe(false);
      }),
      { numRuns: 150 },
    );
  });

  it('however wide or long its tables are', () => {
    const tables = [3, 20, 50, 99, 500, 1_500].map((columns) =>
      fill(`|${'a|'.repeat(columns)}\n|${'-|'.repeat(columns)}\n`, 'a\n'),
    );
    expect(slow(tables)).toEqual([]);
  });

  it('with code in any language', () => {
    const words = ['begin ', '"', '(', `${'a'.repeat(150)} `, `${'('.repeat(150)}\n`];
    // Names of several words cannot stand after a fence.
    const texts = knownLanguages
      .filter((language) => !language.includes(' '))
      .flatMap((language) =>
        words.flatMap((word) =>
          [1_490, 2_990].map(
            (length) => `\`\`\`${language}\n${word.repeat(length).slice(0, length)}\n\`\`\``,
          ),
        ),
      );
    expect(slow(texts)).toEqual([]);
  });

  it('with formulas, which may nest, repeat themselves and define each other', () => {
    const tex = [
      'x^2',
      '\\frac12',
      '\\sqrt2',
      '{',
      '\\left(',
      '\\tiny',
      '\\bf x',
      '\\def\\a{\\a\\a}\\a',
      '\\def\\a#1{#1#1}\\a{',
      'é',
      '\\bmod',
      '&',
      '\\\\',
      '\\begin{matrix}a&b\\end{matrix}',
      '\\overline{',
      "'",
    ];
    const texts = tex.flatMap((piece) => [
      `\`\`\`math\n${piece.repeat(Math.floor(990 / piece.length))}\n\`\`\``,
      fill('```math\n', piece),
      fill('', `$$${piece}$$ `),
    ]);
    expect(slow(texts)).toEqual([]);
  });

  it('and is shown as typed where its HTML would be many times as long', () => {
    const text = fill('', ':a:');
    expect(renderMarkdown(text, facts).html).toBe(`<p>${text}</p>`);
    expect(renderMarkdown(':a:'.repeat(1_000), facts).html.split('class="emoji ')).toHaveLength(1_001);
  });

  it('and its HTML is never longer than 200 000 characters', () => {
    const texts = ['$$é$$ ', ':smile:', ':a:', '🙂', '@**all** ', '#12 ', 'a.co ', '*a*', '`a`', '> ', '- '];
    for (const text of texts)
      expect(renderMarkdown(fill('', text), facts).html.length).toBeLessThanOrEqual(200_000);
  });
});

describe('the difference between two long messages', () => {
  it('is found in time', () => {
    const html = (text: string) => renderMarkdown(text, facts).html;
    const words = Array.from({ length: 2_000 }, (_, index) => `w${(index * 7_919) % 2_003}`);
    const pairs = [
      [words.join(' '), words.toReversed().join(' ')],
      [fill('', 'a b '), fill('', 'b c ')],
      [fill('', 'a b '), fill('', 'c d ')],
      [fill('', 'a b a a b '), fill('', 'b a b b c ')],
      [fill('', '*a* '), fill('', '**a** ')],
      [fill('', ':smile: '), fill('', ':tada: ')],
      [fill('', '<'), fill('', '- a\n')],
    ].map(([before = '', after = '']) => [html(before), html(after)] as const);
    expect(pairs.filter(([before, after]) => isSlow(() => contentHtmlDiff(before, after)))).toEqual([]);
  });
});
