import type { MarkdownIt } from 'markdown-it';
import { readTime } from '../read-time.js';

const syntax = /<time:([^>\n]{1,100})>/y;

/** Rule for `<time:…>`: an instant that clients show in the reader's time zone. */
export function globalTimes(md: MarkdownIt): void {
  md.inline.ruler.before('autolink', 'global_time', (state, silent) => {
    if (state.src[state.pos] !== '<') return false;
    syntax.lastIndex = state.pos;
    const match = syntax.exec(state.src);
    if (match === null || syntax.lastIndex > state.posMax) return false;
    if (!silent) state.push('global_time', 'time', 0).content = match[1] as string;
    state.pos += match[0].length;
    return true;
  });
  md.renderer.rules.global_time = (tokens, index) => {
    const typed = tokens[index]?.content ?? '';
    const text = md.utils.escapeHtml(typed);
    const instant = readTime(typed);
    if (instant === undefined) return `<span class="timestamp-error">Invalid time format: ${text}</span>`;
    return `<time datetime="${instant.toISOString().replace('.000Z', 'Z')}">${text}</time>`;
  };
}
