import type { MarkdownIt } from 'markdown-it';
import { readTime } from '../read-time.js';

const syntax = /<time:([^>\n]{1,100})>/y;

/**
 * Rule for `<time:…>`, which clients show in the reader's time zone. A time that cannot be parsed stays as plain text.
 */
export function globalTimes(md: MarkdownIt): void {
  md.inline.ruler.before('autolink', 'global_time', (state, silent) => {
    if (state.src[state.pos] !== '<') return false;
    syntax.lastIndex = state.pos;
    const match = syntax.exec(state.src);
    if (match === null || syntax.lastIndex > state.posMax) return false;
    const instant = readTime(match[1] as string);
    if (instant === undefined) return false;
    if (!silent) {
      const token = state.push('global_time', 'time', 0);
      token.content = match[1] as string;
      token.meta = { instant: instant.toISOString().replace('.000Z', 'Z') };
    }
    state.pos += match[0].length;
    return true;
  });
  md.renderer.rules.global_time = (tokens, index) => {
    const { content = '', meta } = tokens[index] ?? {};
    return `<time datetime="${meta?.instant}">${md.utils.escapeHtml(content)}</time>`;
  };
}
