import type { MarkdownIt, StateBlock } from 'markdown-it';

/** Maximum number of cells in a table. The parser pads short rows, so a short text could produce a huge table. */
const maxTableCells = 5_000;

/**
 * Changes to markdown-it's built-in rules: underscores do not mark emphasis, strikethrough is rendered as `del`, table
 * size is limited, and `text-align` is written as stock clients expect.
 */
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
  limitTables(md);
  md.core.ruler.push('table_alignment', (state) => {
    for (const token of state.tokens) {
      const style = token.type === 'th_open' || token.type === 'td_open' ? token.attrGet('style') : null;
      if (style !== null) token.attrSet('style', `${String(style).replace(':', ': ')};`);
    }
  });
}

function limitTables(md: MarkdownIt): void {
  // The table rule is the first of the parser's block rules.
  const [readTable] = md.block.ruler.getRules('');
  if (readTable === undefined) throw new TypeError('The parser has no rule for tables.');
  md.block.ruler.at('table', (state, startLine, endLine, silent) =>
    isTooLarge(state, startLine, endLine) ? false : readTable(state, startLine, endLine, silent),
  );
}

function isTooLarge(state: StateBlock, startLine: number, endLine: number): boolean {
  const divider = startLine + 1;
  if (divider >= endLine) return false;
  const columns = state.src.slice(state.bMarks[divider], state.eMarks[divider]).split('|').length;
  const maxRows = Math.floor(maxTableCells / columns);
  for (let line = startLine; line < endLine && !state.isEmpty(line); line++) {
    if (line - startLine > maxRows) return true;
  }
  return false;
}
