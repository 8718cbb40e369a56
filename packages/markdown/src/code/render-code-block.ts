import { escapeHtml } from '../escape-html.js';
import type { Rendering } from '../rendering.js';
import { highlightCode } from './highlight-code.js';
import { resolveLanguage } from './language-names.js';

/** A word that is too long to highlight. Highlighting it would be slow, and real code does not contain such words. */
const longWord = /\S{200}/;

/** Languages whose grammars are up to twice as slow as all others. Their characters count double. */
const slowLanguages: ReadonlySet<string> = new Set(['csharp']);

/**
 * Renders a code block as markup that stock clients understand. `language` is the language as typed, or empty. Code
 * that exceeds the rendering budget is escaped but not highlighted.
 */
export function renderCodeBlock(rendering: Rendering, content: string, language: string): string {
  const code = trimLines(content);
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

function trimLines(content: string): string {
  const lines = content.split('\n').map((line) => line.trimEnd());
  const first = lines.findIndex((line) => line !== '');
  const last = lines.findLastIndex((line) => line !== '');
  return `${lines.slice(first, last + 1).join('\n')}\n`;
}
