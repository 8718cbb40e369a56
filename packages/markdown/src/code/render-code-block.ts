import { escapeHtml } from '../escape-html.js';
import type { Rendering } from '../rendering.js';
import { highlightCode } from './highlight-code.js';
import { resolveLanguage } from './language-names.js';

/** The highlighter takes long for words of this length, and no language has them. */
const longWord = /\S{200}/;

/** Languages whose grammar takes twice as long as the others' do at worst. */
const slowLanguages: ReadonlySet<string> = new Set(['csharp']);

/** A block of code as stock clients read it; `language` is as typed, and empty for none. */
export function renderCodeBlock(rendering: Rendering, content: string, language: string): string {
  const code = withoutTrailingBlanks(content);
  if (language === '') return block('', escapeHtml(code));
  const { displayName, highlighterName } = resolveLanguage(language);
  rendering.codeLanguages.add(displayName);
  const attribute = ` data-code-language="${escapeHtml(displayName)}"`;
  const cost = code.length * (slowLanguages.has(highlighterName ?? '') ? 2 : 1);
  if (highlighterName === undefined || cost > rendering.codeCharactersLeft || longWord.test(code)) {
    return block(attribute, escapeHtml(code));
  }
  rendering.codeCharactersLeft -= cost;
  return block(attribute, highlightCode(code, highlighterName));
}

function block(attribute: string, html: string): string {
  return `<div class="codehilite"${attribute}><pre><span></span><code>${html}</code></pre></div>\n`;
}

function withoutTrailingBlanks(content: string): string {
  const lines = content.split('\n').map((line) => line.trimEnd());
  const first = lines.findIndex((line) => line !== '');
  const last = lines.findLastIndex((line) => line !== '');
  return `${lines.slice(first, last + 1).join('\n')}\n`;
}
