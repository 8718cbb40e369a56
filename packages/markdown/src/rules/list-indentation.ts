import type { MarkdownIt } from 'markdown-it';
import { OpenFences } from './fence-syntax.js';

/** A list item that may contain the following lines. */
interface OpenItem {
  /** The typed indentation of its marker, in spaces. */
  readonly typedIndent: number;
  /** The column of its content after reindenting, in spaces. */
  readonly contentIndent: number;
}

const itemStart = /^( *)((?:[*+-]|[0-9]{1,9}\.)(?: +|$))/;
const thematicBreak = /^ *(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/;

/** Maximum depth of reindented lists. Deeper items stay as typed. */
const maxDepth = 20;

/**
 * Rule that allows two spaces to nest a list. CommonMark requires the width of the marker, so this rule reindents lines
 * before parsing. For example, an item indented by two under `1. ` moves to the column that the parser expects.
 */
export function listIndentation(md: MarkdownIt): void {
  md.core.ruler.before('block', 'list_indentation', (state) => {
    if (/^ *[0-9*+-]/m.test(state.src)) state.src = indentLists(state.src);
  });
  // Allows an ordered list to interrupt a paragraph with any first number. CommonMark requires the number 1.
  md.block.ruler.before(
    'list',
    'list_after_text',
    (state, startLine, _endLine, silent) => {
      if (!silent || (state.sCount[startLine] as number) >= state.blkIndent + 4) return false;
      const start = (state.bMarks[startLine] as number) + (state.tShift[startLine] as number);
      return /^[0-9]\. +[^ ]/.test(state.src.slice(start, start + 10));
    },
    { alt: ['paragraph'] },
  );
}

function indentLists(source: string): string {
  const fences = new OpenFences();
  let open: OpenItem[] = [];
  let shift = 0;
  let afterBlank = true;
  return source
    .split('\n')
    .map((line) => {
      const indent = line.search(/[^ ]/);
      if (indent < 0) {
        afterBlank = true;
        return line;
      }
      if (!fences.isVerbatim) {
        open = open.filter((item) => indent >= item.typedIndent + 2);
        const typed = readItem(line, afterBlank ? open : undefined);
        if (typed === undefined && open.length === 0) shift = 0;
        else shift = Math.max(0, (open.at(-1)?.contentIndent ?? indent) - indent);
        if (typed !== undefined && open.length < maxDepth) {
          const markerIndent = open.at(-1)?.contentIndent ?? indent;
          shift = markerIndent - indent;
          open = [...open, { typedIndent: indent, contentIndent: markerIndent + typed.markerWidth }];
        }
      }
      fences.read(line.slice(indent).trimEnd());
      afterBlank = false;
      return shift < 0 ? line.slice(-shift) : ' '.repeat(shift) + line;
    })
    .join('\n');
}

/**
 * Parses the start of an item. After a blank line, a line indented by at least four spaces more than the enclosing
 * item's content is code, not an item.
 */
function readItem(line: string, itemsAfterBlank: readonly OpenItem[] | undefined) {
  const match = itemStart.exec(line);
  if (match === null || thematicBreak.test(line)) return undefined;
  const [, spaces = '', marker = ''] = match;
  const codeIndent = 4 + (itemsAfterBlank?.at(-1)?.contentIndent ?? 0);
  if (itemsAfterBlank !== undefined && spaces.length >= codeIndent) return undefined;
  const width = marker.trimEnd().length;
  return { markerWidth: width + Math.min(Math.max(marker.length - width, 1), 4) };
}
