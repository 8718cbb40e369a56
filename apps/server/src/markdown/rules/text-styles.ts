import type { MarkdownIt } from 'markdown-it';

/** What the flavour changes in the parser's own rules: no emphasis by underscores, `del`, and how tables say alignment. */
export function textStyles(md: MarkdownIt): void {
  md.inline.ruler.before('emphasis', 'underscores', (state, silent) => {
    let end = state.pos;
    while (end < state.posMax && state.src[end] === '_') end += 1;
    if (end === state.pos) return false;
    if (!silent) state.pending += state.src.slice(state.pos, end);
    state.pos = end;
    return true;
  });
  md.renderer.rules.s_open = () => '<del>';
  md.renderer.rules.s_close = () => '</del>';
  md.core.ruler.push('table_alignment', (state) => {
    for (const token of state.tokens) {
      const style = token.type === 'th_open' || token.type === 'td_open' ? token.attrGet('style') : null;
      if (style !== null) token.attrSet('style', `${String(style).replace(':', ': ')};`);
    }
  });
}
