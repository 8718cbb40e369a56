import { contentHtmlDiff, renderMarkdown, replacementHtmlDiff } from '@waxwing/markdown';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import { arbitraryText, fill } from './arbitrary-texts.js';
import { facts } from './facts.js';

const inserted = (text: string) => `<span class="highlight_text_inserted">${text}</span>`;
const deleted = (text: string) => `<span class="highlight_text_deleted">${text}</span>`;
const html = (text: string) => renderMarkdown(text, facts).html;
const diff = (before: string, after: string) => contentHtmlDiff(html(before), html(after));

describe('the diff of two versions', () => {
  it.each([
    ['without a change', 'a b', 'a b', '<div><p>a b</p></div>'],
    ['of a word', 'a old b', 'a new b', `<div><p>a ${deleted('old')}${inserted('new')} b</p></div>`],
    ['of words at the end', 'a', 'a b c', `<div><p>a${inserted(' b c')}</p></div>`],
    ['of deleted words', 'a b c', 'a', `<div><p>a${deleted(' b c')}</p></div>`],
    ['of style', 'a b', 'a **b**', `<div><p>a ${deleted('b')}<strong>${inserted('b')}</strong></p></div>`],
    [
      'of the target of a link',
      '[a](https://one.example)',
      '[a](https://two.example)',
      `<div><p><a href="https://two.example">${deleted('a')}${inserted('a')}</a></p></div>`,
    ],
    [
      'of a mention, as a whole',
      '@**|10**',
      '@**|11**',
      `<div><p>${deleted('@Ada Lovelace')}${inserted('<span class="user-mention" data-user-id="11">@Alan Turing</span>')}</p></div>`,
    ],
    [
      'of list items, with no text between them',
      '- a\n- b',
      '- a\n- c\n- d',
      `<div><ul>\n<li>a</li>\n<li>${deleted('b')}${inserted('c')}</li>\n<li>${inserted('d')}</li>\n</ul></div>`,
    ],
    ['of markup in the text', 'a', '<b>', `<div><p>${deleted('a')}${inserted('&lt;b&gt;')}</p></div>`],
    ['of everything', 'a', '', `<div>${deleted('a')}</div>`],
  ])('%s', (_case, before, after, expected) => expect(diff(before, after)).toBe(expected));

  it('shows a deleted formula as TeX and an inserted one typeset', () => {
    const changed = diff('$$x^2$$', '$$y^2$$');
    expect(changed).toContain(deleted('x^2'));
    expect(changed).toContain('<span class="highlight_text_inserted"><span class="katex">');
    expect(changed.match(/highlight_text/g)).toHaveLength(2);
  });

  it('keeps the whole text of the new version, and highlights nothing without a change', () => {
    fc.assert(
      fc.property(arbitraryText, arbitraryText, (before, after) => {
        const [old, now] = [html(before), html(after)];
        expect(contentHtmlDiff(now, now)).toBe(`<div>${now}</div>`);
        const withoutDeleted = contentHtmlDiff(old, now).replace(
          /<span class="highlight_text_deleted">[^<]*<\/span>/g,
          '',
        );
        expect(textOf(withoutDeleted)).toBe(textOf(now));
      }),
      { numRuns: 300 },
    );
  });

  it('replaces everything if two long texts have nothing in common', () => {
    const changed = diff(fill('', 'a b '), fill('', 'c d '));
    expect(changed.match(/highlight_text_deleted/g)).toHaveLength(1);
    expect(changed.match(/highlight_text_inserted/g)).toHaveLength(1);
  });

  it('without a search for the shortest replaces all between the first and the last difference', () => {
    const replaced = (before: string, after: string) => replacementHtmlDiff(html(before), html(after));
    expect(replaced('a b c d e', 'a x c y e')).toBe(
      `<div><p>a ${deleted('b c d')}${inserted('x c y')} e</p></div>`,
    );
    expect(replaced('a a', 'a a a')).toBe(diff('a a', 'a a a'));
    expect(replaced('a', 'a')).toBe(diff('a', 'a'));
  });
});

function textOf(markup: string): string {
  return markup.replace(/<[^>]*>/g, '');
}
