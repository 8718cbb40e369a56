import { escapeHtml } from '@waxwing/markdown';

/** HTML in which the words that were searched for are marked, wherever they are text. */
export function highlightHtml(html: string, words: readonly string[]): string {
  return html
    .split(/(<[^>]*>)/)
    .map((part, index) => (index % 2 === 1 ? part : highlightText(part, words)))
    .join('');
}

/** A plain text as HTML in which the words that were searched for are marked. */
export function highlightPlain(text: string, words: readonly string[]): string {
  return highlightText(escapeHtml(text), words);
}

/** Escaped text: what stands for one character is no word. */
function highlightText(text: string, words: readonly string[]): string {
  const wanted = new Set(words);
  return text.replace(/&#?\w+;|[\p{L}\p{N}\p{M}]+/gu, (token) =>
    wanted.has(token.toLowerCase()) ? `<span class="highlight">${token}</span>` : token,
  );
}
