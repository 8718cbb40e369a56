import { plainText, renderMarkdown } from '@waxwing/markdown';
import { describe, expect, it } from 'vitest';
import { facts } from './facts.js';

describe('the plain text of a message', () => {
  it.each([
    ['no markup and no entities', '**a** *b* <&lt; `x`', 'a b << x'],
    ['names', '@**Ada Lovelace**', '@Ada Lovelace'],
    ['emoji, typed by name or as Unicode', ':smile: 👍 :heart: :zero:', '🙂 👍 ❤️ 0️⃣'],
    ['formulas', 'so $$x^2 < y$$ and $$\\bad{$$', 'so x^2 < y and $$\\bad{$$'],
    ['formulas in blocks', '```math\nx^2\n```', 'x^2'],
    ['lines', 'a\nb\n\nc', 'a\nb\nc'],
    ['quotes', '> a\n> b\n\nc', '> a\n> b\nc'],
    ['quotes in quotes', '> a\n> > b', '> a\n> > b'],
    ['empty lines of code', '```\na\n\n  b\n```\nc', 'a\n\n  b\nc'],
    ['code in quotes', '````quote\n```\na\n  b\n```\n````', '> a\n>   b'],
    ['list numbers', '3. a\n4. b', '3. a\n4. b'],
    ['lists in lists', '1. a\n   * b\n   * c\n2. d', '1. a\nb\nc\n2. d'],
    ['no spoiler content', '```spoiler head\nhidden :smile:\n```', 'head\n(…)'],
  ])('has %s', (_, content, expected) => {
    expect(plainText(renderMarkdown(content, facts).html)).toBe(expected);
  });

  it('hides spoiler content with nested blocks', () => {
    const spoiler = '<div class="spoiler-content" aria-hidden="true"><div>hidden</div>more</div>';
    expect(plainText(`<div class="spoiler-block">header ${spoiler}</div>`)).toBe('header (…)');
  });
});
