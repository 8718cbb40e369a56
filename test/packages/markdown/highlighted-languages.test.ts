import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { highlightCode } from '#markdown/code/highlight-code.js';
import { highlighterLanguages } from '#markdown/code/highlighter-languages.js';

const library = createRequire(new URL('../../../packages/markdown/package.json', import.meta.url));

// Code embedded in other code. Its highlighting shows whether the embedded grammar was also loaded.
const samples = [
  '<p class="a">b</p><style>p { color: red }</style><script>const a = `b` + html`<b>c</b>`;</script>',
  '# A\n\n<b>bold</b>\n\n```js\nconst a = 1;\n```\n',
  "<% if 1 %><%= a['b'] %><% end %>\n- if a == 'b'\n$ echo 'a' | grep b # c\nRUN echo 'a'\n",
  'POST / HTTP/1.1\nHost: a\n\n{"a": [1, true, null]}\n',
  'DO $$ BEGIN RAISE NOTICE 1; END $$ LANGUAGE plpgsql; const a = (<div id="a">b</div>);\n',
];

it('loading grammars on demand highlights every language as if all grammars were loaded', () => {
  const highlightAll = () =>
    highlighterLanguages.map(([name]) => [name, samples.map((sample) => highlightCode(sample, name))]);
  const one = highlightAll();
  library('highlight.js');
  expect(highlightAll()).toEqual(one);
});

it('the list of languages has the same names and aliases as the library', () => {
  const { default: all } = library('highlight.js') as {
    default: {
      listLanguages(): string[];
      getLanguage(name: string): { name: string; aliases?: string[] };
    };
  };
  const words = highlighterLanguages.map(([highlighterName, name, aliases]) => [
    highlighterName,
    name,
    ...(aliases?.split(' ') ?? []),
  ]);
  expect(words.map(([highlighterName]) => highlighterName).sort()).toEqual(all.listLanguages().sort());
  for (const [highlighterName = '', ...rest] of words) {
    const { name, aliases = [] } = all.getLanguage(highlighterName);
    expect([highlighterName, ...rest]).toEqual([highlighterName, name, ...aliases]);
  }
});
