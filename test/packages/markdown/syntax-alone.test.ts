import { renderMarkdown } from '@waxwing/markdown';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import { facts } from './facts.js';

const html = (text: string) => renderMarkdown(text, facts).html;
const shown = (text: string) => html(text).replace(/<[^>]*>/g, '');

describe('a text that contains only Markdown syntax', () => {
  it.each([
    ...[
      '```',
      '~~~',
      '````',
      '```\n```',
      '```\n\n\n```',
      '```js\n```',
      '~~~ quote',
      '```spoiler\n```',
      '```math\n```',
    ],
    ...['#', '######', '# #', '>', '> > >', '>>>>>>>>>>>>>>', '> ```', '> #', '>\n>\n>'],
    ...['-', '*', '+', '1.', '- -', '- \n- \n', '1. 2. 3.', '[x]: https://example.com', '[x]: y "z"'],
    ...[
      '| |\n|-|',
      '|-|-|',
      '\\',
      '[]()',
      '![]()',
      '<!-- -->',
      '&#8203;',
      '$$$$',
      '$$ $$',
      '__',
      '~~~~',
      '::',
      '@****',
    ],
  ])('is shown as typed: %j', (text) => {
    expect(shown(text).trim()).not.toBe('');
    expect(html(text)).toMatch(/^<p>/);
  });

  it.each(['$$\\,$$', '$$\\quad$$', '$$%$$', '$$ { } $$', '$$\\phantom{x}$$', '```math\n\\\\\n```', '$$~$$'])(
    'is shown as typed if it is a formula that shows nothing: %j',
    (text) => {
      expect(html(text)).toBe(`<p>${text.replaceAll('\n', '<br>\n')}</p>`);
    },
  );

  it.each(['{0pt}{0pt}', '{0em}{1em}', '{1em}{0em}', '{-1em}{1em}'])(
    'is shown as typed if it is a rule without an area: %s',
    (size) => {
      expect(html(`$$\\rule${size}$$`)).toBe(`<p>$$\\rule${size}$$</p>`);
    },
  );

  it.each(['\\rule{1em}{2pt}', '\\frac{}{}', '\\boxed{}', '\\overline{}', '\\begin{array}{|c|}\\end{array}'])(
    'is rendered as a formula if it draws a line: %s',
    (formula) => {
      expect(html(`$$${formula}$$`)).toContain('class="katex"');
    },
  );

  it('yields short HTML, regardless of the length of the source', () => {
    expect(html('`'.repeat(9_999))).toBe(`<p>${'`'.repeat(9_999)}</p>`);
  });

  it('never renders as nothing, for any syntax', () => {
    const piece = fc.constantFrom(
      ...[
        '`',
        '```',
        '~~~',
        '\n',
        '\n\n',
        ' ',
        '#',
        '>',
        '-',
        '*',
        '_',
        '~~',
        '1.',
        '|',
        '|-|',
        '[',
        ']',
        '(',
        ')',
        '!',
      ],
      ...['[x]:', ' y', 'quote', 'spoiler', '$$', '<', '&', ';', '\\', ':', '    '],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        if (text.trim() === '') return;
        if (!/<hr>/.test(html(text))) expect(shown(text).trim()).not.toBe('');
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a text with visible content stays unchanged', () => {
  it.each([
    ['***', '<hr>'],
    ['> a', '<blockquote>\n<p>a</p>\n</blockquote>'],
    ['', ''],
    ['# a', '<h1>a</h1>'],
  ])('%j', (text, expected) => {
    expect(html(text)).toBe(expected);
  });

  it.each([
    ...[
      '$$x$$',
      '$$x\\phantom{y}$$',
      '$$\\frac{}{}$$',
      '$$\\rule{1em}{1em}$$',
      '$$\\sqrt{}$$',
      '$$\\boxed{}$$',
    ],
    ...['$$\\overline{\\quad}$$', '$$\\xrightarrow{}$$', '$$\\|$$', '$$\\phantom{x}$$ y'],
  ])('the formula %j', (text) => {
    expect(html(text)).toContain('katex');
  });
});
