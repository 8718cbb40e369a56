import { isKnownLanguage, knownLanguages, renderMarkdown } from '@waxwing/markdown';
import { describe, expect, it } from 'vitest';
import { facts } from './facts.js';

const html = (text: string) => renderMarkdown(text, facts).html;
/** Returns the HTML without insignificant line breaks between elements. */
const compact = (text: string) =>
  html(text)
    .replace(/>\n+</g, '><')
    .replace(/\n(?=<)/g, '');

describe('headings, rules and paragraphs', () => {
  it.each([
    ['# one', '<h1>one</h1>'],
    ['###### six', '<h6>six</h6>'],
    ['#no blank', '<p>#no blank</p>'],
    ['a\n=', '<p>a<br>\n=</p>'],
    ['a\n\n---\n\nb', '<p>a</p>\n<hr>\n<p>b</p>'],
    [
      '[x]\n\n[x]: https://a.example',
      '<p>[x]</p>\n<p>[x]: <a href="https://a.example">https://a.example</a></p>',
    ],
  ])('%j', (text, expected) => expect(html(text)).toBe(expected));
});

describe('lists', () => {
  it.each([
    ['with any marker', '* a\n* b', '<ul><li>a</li><li>b</li></ul>'],
    ['interrupting a paragraph', 'text:\n- a\n+ b', '<p>text:</p><ul><li>a</li></ul><ul><li>b</li></ul>'],
    ['starting at another number', '3. a\n3. b', '<ol start="3"><li>a</li><li>b</li></ol>'],
    ['nested by two spaces', '* a\n  * b\n* c', '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>'],
    [
      'nested by two spaces in ordered lists',
      '1. a\n  2. b\n    3. c\n  2. d\n2. e',
      '<ol><li>a<ol start="2"><li>b<ol start="3"><li>c</li></ol></li><li>d</li></ol></li><li>e</li></ol>',
    ],
    ['nested by more than two spaces', '- a\n      - b', '<ul><li>a<ul><li>b</li></ul></li></ul>'],
    [
      'containing code, whose indentation is kept',
      '1. a\n  ```\n  x\n    y\n  ```\n2. b',
      '<ol><li>a<div class="codehilite"><pre><span></span><code>x\n  y</code></pre></div></li><li>b</li></ol>',
    ],
  ])('%s', (_case, text, expected) => expect(compact(text)).toBe(expected));

  it('are plain text inside code', () => {
    expect(html('~~~\n1. a\n  2. b\n~~~')).toContain('<code>1. a\n  2. b\n</code>');
  });
});

describe('quotes', () => {
  const quote = '<blockquote>\n<p>a<br>\nb</p>\n</blockquote>';
  it.each(['> a\n> b', '```quote\na\nb\n```', '~~~ quoted\na\nb\n~~~', '```quote\na\nb'])('%j', (text) =>
    expect(html(text)).toBe(quote),
  );

  it('may contain fences that end before the quote does', () => {
    expect(compact('```quote\na\n```py\nx\n```\nb\n```\nc')).toBe(
      '<blockquote><p>a</p><div class="codehilite" data-code-language="Python"><pre><span></span><code>x</code></pre></div><p>b</p></blockquote><p>c</p>',
    );
  });
});

describe('spoilers', () => {
  it.each([
    [
      '```spoiler Head *er*\n- a\n```\nafter',
      '<p>Head <em>er</em></p>\n',
      '<ul>\n<li>a</li>\n</ul>\n',
      '\n<p>after</p>',
    ],
    ['~~~spoiler\ntext\n~~~', '', '<p>text</p>\n', ''],
    ['```spoiler\n```quote\ntext\n```\n```', '', '<blockquote>\n<p>text</p>\n</blockquote>\n', ''],
  ])('%j', (text, header, content, after) =>
    expect(html(text)).toBe(
      `<div class="spoiler-block"><div class="spoiler-header">\n${header}</div><div class="spoiler-content" aria-hidden="true">\n${content}</div></div>${after}`,
    ),
  );
});

describe('code blocks', () => {
  const block = (attribute: string, code: string) =>
    `<div class="codehilite"${attribute}><pre><span></span><code>${code}\n</code></pre></div>`;
  it.each([
    ['```\n<b> & "c"  \n\n```', block('', '&lt;b&gt; &amp; &quot;c&quot;')],
    ['    four\n      blanks', block('', 'four\n  blanks')],
    ['```made-Up\nx = 1\n```', block(' data-code-language="made-Up"', 'x = 1')],
    ['```x"y\na\n```', block(' data-code-language="x"', 'a')],
    [
      '``` {.JS}\nreturn "x";\n```',
      block(
        ' data-code-language="JavaScript"',
        '<span class="k">return</span> <span class="s">&quot;x&quot;</span>;',
      ),
    ],
    ['text\n~~~\nopen', `<p>text</p>\n${block('', 'open')}`],
    ['````\n```\n````', block('', '```')],
    ['``` two words `` x', '<p>``` two words `` x</p>'],
  ])('%j', (text, expected) => expect(html(text)).toBe(expected));

  it('without a language get the organization’s default language, unless they are indented', () => {
    const rendered = renderMarkdown('```\n1\n```\n\n    2', { ...facts, defaultCodeLanguage: 'python' });
    expect(rendered.html.match(/data-code-language="Python"/g)).toHaveLength(1);
    expect(rendered.codeLanguages).toEqual(['Python']);
  });

  it('contain only text and unnested spans with classes that clients know', () => {
    const text = '```ts\nclass A extends B { /* c */ x = "a" + f(/r/); @d static y: number = null }\n```';
    expect(html(text)).toMatch(
      /<code>(?:[^<]|<span class="(?:k|kc|kt|nb|nc|nf|nv|py|na|bp|m|s|si|sr|c|cp|o|p)">[^<]*<\/span>)+<\/code>/,
    );
  });

  it('are not highlighted if highlighting would be slow', () => {
    expect(html(`\`\`\`java\n${'$'.repeat(5_000)}\n\`\`\``)).toBe(
      block(' data-code-language="Java"', '$'.repeat(5_000)),
    );
  });
});

describe('languages', () => {
  it.each([
    ['js', 'JavaScript'],
    ['PY', 'Python'],
    ['python2', 'Python 2.x'],
    ['c++', 'C++'],
    ['html', 'HTML'],
    ['toml', 'TOML'],
    ['console', 'Bash Session'],
    ['tex', 'TeX'],
  ])('%s is displayed as %s', (word, name) => {
    expect(renderMarkdown(`\`\`\`${word}\nx\n\`\`\``, facts).codeLanguages).toEqual([name]);
    expect(knownLanguages).toContain(name);
  });

  it('are known by name and alias, ignoring case', () => {
    expect(['javascript', 'JAVASCRIPT', 'js', 'Text only', 'tEx'].map(isKnownLanguage)).not.toContain(false);
    expect(isKnownLanguage('made-up')).toBe(false);
  });
});

describe('tables', () => {
  it('have column alignment', () => {
    expect(compact('| a | b | c |\n|:--|--:|---|\n| 1 | `x\\|y` |')).toBe(
      '<table><thead><tr><th style="text-align: left;">a</th><th style="text-align: right;">b</th><th>c</th></tr></thead>' +
        '<tbody><tr><td style="text-align: left;">1</td><td style="text-align: right;"><code>x|y</code></td><td></td></tr></tbody></table>',
    );
  });

  it('with too many cells stay as typed', () => {
    const text = `|${'a|'.repeat(100)}\n|${'-|'.repeat(100)}\n${'a\n'.repeat(100)}`;
    expect(html(text)).not.toContain('<table>');
  });
});

describe('fenced formulas', () => {
  it('are display formulas in one paragraph', () => {
    expect(html('```math\nx\n\ny\n```')).toMatch(
      /^<p><span class="katex-display"><span class="katex">.*<\/span>\n\n<span class="katex-display">.*<\/span><\/p>$/s,
    );
  });

  it('stay as typed if they are invalid', () => {
    expect(html('```math\n\\nonsense<b>\n```')).toBe(
      '<p><span class="tex-error">\\nonsense&lt;b&gt;</span></p>',
    );
  });
});

describe('a text beyond a limit is shown as typed', () => {
  it.each([
    ['with too many code points', `**a** ${'x'.repeat(10_000)}`],
    ['with too many nested quotes', `${'>'.repeat(200)} **a**`],
    ['with too many nested fences', `${'```quote\n'.repeat(200)}**a**`],
  ])('%s', (_case, text) => {
    expect(html(text)).not.toMatch(/<(?!p>|\/p>|br>)/);
    expect(html(text)).toContain('**a**');
  });
});
