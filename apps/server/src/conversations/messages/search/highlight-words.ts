import { escapeHtml } from '@waxwing/markdown';

/** Highlights the searched words in an HTML text, but not inside tags. */
export function highlightHtml(html: string, words: readonly string[]): string {
  return html
    .split(/(<[^>]*>)/)
    .map((part, index) => (index % 2 === 1 ? part : highlightText(part, words)))
    .join('');
}

/** Converts plain text to HTML and highlights the searched words. */
export function highlightPlain(text: string, words: readonly string[]): string {
  return highlightText(escapeHtml(text), words);
}

/** Highlights words in escaped text. Character references are not words. */
function highlightText(text: string, words: readonly string[]): string {
  const wanted = new Set(words);
  return text.replace(/&#?\w+;|[\p{L}\p{N}\p{M}]+/gu, (token) =>
    wanted.has(token.toLowerCase()) ? `<span class="highlight">${token}</span>` : token,
  );
}
