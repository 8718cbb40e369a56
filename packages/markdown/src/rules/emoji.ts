import type { MarkdownIt } from 'markdown-it';
import { emojiCode, emojiOf } from '../emoji/emoji-names.js';
import { renderingOf } from '../rendering.js';
import { replaceInText } from './replace-in-text.js';

const nameSyntax = /:([\w+-]{1,100}):/y;

const unit = '\\p{Emoji}(?:\\p{Emoji_Modifier}|\\uFE0F\\u20E3?|\\u20E3|[\\u{E0020}-\\u{E007E}]+\\u{E007F})?';
const pair = '\\p{Regional_Indicator}\\p{Regional_Indicator}';
/** Matches any sequence that Unicode allows as one emoji (UTS #51), known or not. */
const sequence = new RegExp(`${pair}|${unit}(?:\\u200D(?:${pair}|${unit}))*`, 'gu');
/** Digits, arrows and other characters that are shown as text unless a variation selector follows. */
const textPresentation = /^\P{Emoji_Presentation}\u20E3?$/u;

/** Fast path: ASCII text contains no Unicode emoji. */
const hasOnlyAscii = /^\p{ASCII}*$/u;

/** Rules for emoji: `:name:` (Unicode or the organization's own) and literal Unicode emoji. */
export function emoji(md: MarkdownIt): void {
  md.inline.ruler.before('emphasis', 'emoji', (state, silent) => {
    if (state.src[state.pos] !== ':') return false;
    nameSyntax.lastIndex = state.pos;
    const match = nameSyntax.exec(state.src);
    const name = match?.[1];
    if (name === undefined || nameSyntax.lastIndex > state.posMax) return false;
    const custom = renderingOf(state.env).facts.customEmoji(name);
    const code = emojiCode(name);
    if (custom === undefined && code === undefined) return false;
    if (!silent) {
      const token = state.push(custom === undefined ? 'emoji' : 'custom_emoji', 'span', 0);
      token.content = name;
      token.meta = { code, sourceUrl: custom?.sourceUrl };
    }
    state.pos = nameSyntax.lastIndex;
    return true;
  });
  md.core.ruler.push('unicode_emoji', (state) =>
    replaceInText(state, (text) => (hasOnlyAscii.test(text) ? [] : findUnicodeEmoji(text))),
  );
  md.renderer.rules.emoji = (tokens, index) => {
    const token = tokens[index];
    const title = token?.content.replaceAll('_', ' ');
    return `<span class="emoji emoji-${token?.meta?.code}" title="${title}" role="img" aria-label="${title}">:${token?.content}:</span>`;
  };
  md.renderer.rules.custom_emoji = (tokens, index) => {
    const token = tokens[index];
    const title = token?.content.replaceAll('_', ' ');
    const source = md.utils.escapeHtml(String(token?.meta?.sourceUrl));
    return `<img class="emoji" alt=":${token?.content}:" title="${title}" src="${source}">`;
  };
}

function* findUnicodeEmoji(text: string) {
  for (const { 0: typed, index } of text.matchAll(sequence)) {
    if (textPresentation.test(typed)) continue;
    const known = emojiOf(typed);
    if (known === undefined) continue;
    const { name, code } = known;
    yield { start: index, end: index + typed.length, type: 'emoji', content: name, meta: { code } };
  }
}
