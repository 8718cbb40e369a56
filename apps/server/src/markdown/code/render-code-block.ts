import { escapeHtml } from '../escape-html.js';
import type { Rendering } from '../rendering.js';
import { highlightCode } from './highlight-code.js';
import { resolveLanguage } from './language-names.js';

/** The highlighter takes long for words of this length, and no language has them. */
const longWord = /\S{200}/;

/** A block of code as stock clients read it; `typedLanguage` is empty when the author names none. */
export function renderCodeBlock(rendering: Rendering, content: string, typedLanguage: string): string {
  const code = withoutTrailingBlanks(content);
  const language = typedLanguage || rendering.facts.defaultCodeLanguage;
  if (language === '') return block('', escapeHtml(code));
  const { displayName, highlighterName } = resolveLanguage(language);
  rendering.codeLanguages.add(displayName);
  const attribute = ` data-code-language="${escapeHtml(displayName)}"`;
  if (highlighterName === undefined || code.length > rendering.codeCharactersLeft || longWord.test(code)) {
    return block(attribute, escapeHtml(code));
  }
  rendering.codeCharactersLeft -= code.length;
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
