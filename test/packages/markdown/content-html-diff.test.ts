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
    ['shows no change', 'a b', 'a b', '<div><p>a b</p></div>'],
    [
      'shows a changed word',
      'a old b',
      'a new b',
      `<div><p>a ${deleted('old')}${inserted('new')} b</p></div>`,
    ],
    ['shows words added at the end', 'a', 'a b c', `<div><p>a${inserted(' b c')}</p></div>`],
    ['shows deleted words', 'a b c', 'a', `<div><p>a${deleted(' b c')}</p></div>`],
    [
      'shows a change of style',
      'a b',
      'a **b**',
      `<div><p>a ${deleted('b')}<strong>${inserted('b')}</strong></p></div>`,
    ],
    [
      'shows a change of a link’s target',
      '[a](https://one.example)',
      '[a](https://two.example)',
      `<div><p><a href="https://two.example">${deleted('a')}${inserted('a')}</a></p></div>`,
    ],
    [
      'shows a changed mention as a unit',
      '@**|10**',
      '@**|11**',
      `<div><p>${deleted('@Ada Lovelace')}${inserted('<span class="user-mention" data-user-id="11">@Alan Turing</span>')}</p></div>`,
    ],
    [
      'shows list items without text between them',
      '- a\n- b',
      '- a\n- c\n- d',
      `<div><ul>\n<li>a</li>\n<li>${deleted('b')}${inserted('c')}</li>\n<li>${inserted('d')}</li>\n</ul></div>`,
    ],
    ['escapes markup in the text', 'a', '<b>', `<div><p>${deleted('a')}${inserted('&lt;b&gt;')}</p></div>`],
    ['shows a text deleted completely', 'a', '', `<div>${deleted('a')}</div>`],
  ])('%s', (_case, before, after, expected) => expect(diff(before, after)).toBe(expected));

  it('shows a deleted formula as TeX source, and typesets an inserted formula', () => {
    const changed = diff('$$x^2$$', '$$y^2$$');
    expect(changed).toContain(deleted('x^2'));
    expect(changed).toContain('<span class="highlight_text_inserted"><span class="katex">');
    expect(changed.match(/highlight_text/g)).toHaveLength(2);
  });

  it('keeps the whole new version, and highlights nothing if nothing changed', () => {
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

  it('in linear time replaces everything between the first and the last difference', () => {
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
