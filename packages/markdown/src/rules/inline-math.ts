import type { MarkdownIt } from 'markdown-it';
import { renderInlineTex } from '../render-tex.js';
import { renderingOf } from '../rendering.js';

const syntax = /\$\$([^\n_$](?:\\\$|[^$\n])*)\$\$(?![$\p{L}\p{N}_])/uy;

/** Rule for `$$TeX$$` on a single line. Does not match amounts of money or runs of dollar signs. */
export function inlineMath(md: MarkdownIt): void {
  md.inline.ruler.before('emphasis', 'inline_math', (state, silent) => {
    if (state.src[state.pos] !== '$') return false;
    if (state.pos > 0 && /[$\p{L}\p{N}_]/u.test(state.src[state.pos - 1] as string)) return false;
    syntax.lastIndex = state.pos;
    const match = syntax.exec(state.src);
    if (match === null || syntax.lastIndex > state.posMax) return false;
    if (!silent) state.push('inline_math', 'span', 0).content = match[1] as string;
    state.pos += match[0].length;
    return true;
  });
  md.renderer.rules.inline_math = (tokens, index, _options, env) =>
    renderInlineTex(renderingOf(env), tokens[index]?.content ?? '');
}
