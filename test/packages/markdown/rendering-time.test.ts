import { contentHtmlDiff, findReferences, knownLanguages, renderMarkdown } from '@waxwing/markdown';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import { processorMilliseconds, slownessOfMachine } from '../../support/processor-time.js';
import { arbitraryLongText, fill, pieces } from './arbitrary-texts.js';
import { facts } from './facts.js';

/**
 * Maximum CPU time to render or diff a message of maximum length on an ordinary machine. Rendering blocks the event
 * loop.
 */
const limitMilliseconds = 50;

function isSlow(run: () => unknown): boolean {
  const milliseconds = processorMilliseconds(run, limitMilliseconds / 2);
  return milliseconds > limitMilliseconds && milliseconds > limitMilliseconds * slownessOfMachine();
}

function slow(texts: readonly string[]): string[] {
  return texts.filter((text) => isSlow(() => renderMarkdown(text, facts))).map((text) => text.slice(0, 60));
}

describe('a message of 10,000 code points renders in bounded time', () => {
  it('if it repeats one syntax fragment, on its own, in lines or in cells', () => {
    const texts = pieces.flatMap((piece) => [
      fill('', piece),
      fill('a ', piece),
      fill('', `${piece.repeat(40).slice(0, 80)}\n`),
      fill('|a|b|\n|-|-|\n', `|${piece.replaceAll('\n', ' ').repeat(20).slice(0, 60)}|\n`),
      fill('', piece).slice(0, 5_000) + [...fill('', piece).slice(0, 5_000)].reverse().join(''),
    ]);
    expect(slow(texts)).toEqual([]);
  });

  it('if it mixes syntax fragments', () => {
    fc.assert(
      fc.property(arbitraryLongText, (text) => {
        expect(slow([text])).toEqual([]);
        expect(isSlow(() => findReferences(text))).toBe(false);
      }),
      { numRuns: 150 },
    );
  });

  it('with wide and long tables', () => {
    const tables = [3, 20, 50, 99, 500, 1_500].map((columns) =>
      fill(`|${'a|'.repeat(columns)}\n|${'-|'.repeat(columns)}\n`, 'a\n'),
    );
    expect(slow(tables)).toEqual([]);
  });

  it('with code in any language', () => {
    const words = ['begin ', '"', '(', `${'a'.repeat(150)} `, `${'('.repeat(150)}\n`];
    // Excludes names with a space, because the language name after a fence ends at a space.
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

  it('with formulas that nest, repeat and define macros', () => {
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

  it('if it is shown as typed because its HTML would be too long', () => {
    const text = fill('', ':a:');
    expect(renderMarkdown(text, facts).html).toBe(`<p>${text}</p>`);
    expect(renderMarkdown(':a:'.repeat(1_000), facts).html.split('class="emoji ')).toHaveLength(1_001);
  });

  it('and yields at most 200,000 characters of HTML', () => {
    const texts = ['$$é$$ ', ':smile:', ':a:', '🙂', '@**all** ', '#12 ', 'a.co ', '*a*', '`a`', '> ', '- '];
    for (const text of texts)
      expect(renderMarkdown(fill('', text), facts).html.length).toBeLessThanOrEqual(200_000);
  });
});

describe('the diff of two long messages', () => {
  it('takes bounded time', () => {
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
