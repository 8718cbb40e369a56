import type { MarkdownIt, StateBlock } from 'markdown-it';
import { renderCodeBlock } from '../code/render-code-block.js';
import { renderTexBlock } from '../render-tex.js';
import { renderingOf } from '../rendering.js';
import { type Fence, isContainer, OpenFences, readFence } from './fence-syntax.js';

/** Rules for fenced code, math, quotes and spoilers, and for code indented by four spaces. */
export function fences(md: MarkdownIt): void {
  md.block.ruler.at(
    'fence',
    (state, startLine, endLine, silent) => {
      if ((state.sCount[startLine] as number) >= state.blkIndent + 4) return false;
      const fence = readFence(textOf(state, startLine));
      if (fence === undefined) return false;
      if (!silent) pushFence(state, fence, startLine, findEnd(state, startLine, endLine));
      return true;
    },
    { alt: ['paragraph', 'blockquote', 'list'] },
  );
  md.renderer.rules.fence = (tokens, index, _options, env) => {
    const rendering = renderingOf(env);
    const language = tokens[index]?.info || rendering.facts.defaultCodeLanguage;
    return renderCodeBlock(rendering, tokens[index]?.content ?? '', language);
  };
  md.renderer.rules.code_block = (tokens, index, _options, env) =>
    renderCodeBlock(renderingOf(env), tokens[index]?.content ?? '', '');
  md.renderer.rules.math_block = (tokens, index, _options, env) =>
    renderTexBlock(renderingOf(env), tokens[index]?.content ?? '');
  md.renderer.rules.spoiler_open = () => '<div class="spoiler-block"><div class="spoiler-header">\n';
  md.renderer.rules.spoiler_content = () => '</div><div class="spoiler-content" aria-hidden="true">\n';
  md.renderer.rules.spoiler_close = () => '</div></div>\n';
}

function textOf(state: StateBlock, line: number): string {
  const start = (state.bMarks[line] as number) + (state.tShift[line] as number);
  return state.src.slice(start, state.eMarks[line]).trimEnd();
}

interface FenceEnd {
  /** The line after the last content line. */
  readonly contentEnd: number;
  /** The line after the fence. */
  readonly next: number;
}

/** Finds the end of a fence, skipping nested fences. An unclosed fence ends where its containing block ends. */
function findEnd(state: StateBlock, startLine: number, endLine: number): FenceEnd {
  const open = new OpenFences();
  for (let line = startLine; line < endLine; line++) {
    const leavesList = !state.isEmpty(line) && (state.sCount[line] as number) < state.blkIndent;
    if (leavesList) return { contentEnd: line, next: line };
    open.read(textOf(state, line));
    if (open.depth === 0) return { contentEnd: line, next: line + 1 };
  }
  return { contentEnd: endLine, next: endLine };
}

function pushFence(state: StateBlock, fence: Fence, startLine: number, end: FenceEnd): void {
  if (fence.language === 'spoiler') pushSpoiler(state, fence.header, startLine + 1, end.contentEnd);
  else if (isContainer(fence)) pushQuote(state, startLine + 1, end.contentEnd);
  else pushVerbatim(state, fence, startLine, end.contentEnd);
  state.line = end.next;
}

function pushVerbatim(state: StateBlock, fence: Fence, startLine: number, contentEnd: number): void {
  const indent = state.sCount[startLine] as number;
  const content = state.getLines(startLine + 1, contentEnd, indent, true);
  if (content.trim() === '') return;
  const token = state.push(fence.language === 'math' ? 'math_block' : 'fence', 'div', 0);
  token.info = fence.typedLanguage;
  token.content = content;
}

function pushQuote(state: StateBlock, startLine: number, endLine: number): void {
  if (startLine === endLine) return;
  state.push('blockquote_open', 'blockquote', 1);
  tokenizeLines(state, startLine, endLine);
  state.push('blockquote_close', 'blockquote', -1);
}

function pushSpoiler(state: StateBlock, header: string, startLine: number, endLine: number): void {
  state.push('spoiler_open', 'div', 1);
  if (header !== '') {
    state.push('paragraph_open', 'p', 1);
    const inline = state.push('inline', '', 0);
    inline.content = header;
    inline.children = [];
    state.push('paragraph_close', 'p', -1);
  }
  state.push('spoiler_content', 'div', 0);
  tokenizeLines(state, startLine, endLine);
  state.push('spoiler_close', 'div', -1);
}

function tokenizeLines(state: StateBlock, startLine: number, endLine: number): void {
  const { lineMax, parentType } = state;
  state.lineMax = endLine;
  state.parentType = 'blockquote';
  state.md.block.tokenize(state, startLine, endLine);
  state.lineMax = lineMax;
  state.parentType = parentType;
}
