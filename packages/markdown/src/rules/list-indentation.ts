import type { MarkdownIt } from 'markdown-it';
import { OpenFences } from './fence-syntax.js';

/** An item that lines may belong to. */
interface OpenItem {
  /** Its marker's indentation, in blanks, as typed. */
  readonly typedIndent: number;
  /** Where its text starts, in blanks, after the lines are moved. */
  readonly contentIndent: number;
}

const itemStart = /^( *)((?:[*+-]|[0-9]{1,9}\.)(?: +|$))/;
const thematicBreak = /^ *(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/;

/** Deeper lists than this are left as they are typed. */
const maxDepth = 20;

/**
 * Lets two blanks nest in every list, as the flavour has it, while the parser asks for the width of the marker: what is
 * indented by two under `1. ` is moved to where the parser looks for it.
 */
export function listIndentation(md: MarkdownIt): void {
  md.core.ruler.before('block', 'list_indentation', (state) => {
    if (/^ *[0-9*+-]/m.test(state.src)) state.src = indentLists(state.src);
  });
  // A list may follow a line of text whatever its first number, which the parser allows for 1 only.
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

/** Reads the start of an item; after a blank line, what is indented by four more than its item is code. */
function readItem(line: string, itemsAfterBlank: readonly OpenItem[] | undefined) {
  const match = itemStart.exec(line);
  if (match === null || thematicBreak.test(line)) return undefined;
  const [, blanks = '', marker = ''] = match;
  const codeIndent = 4 + (itemsAfterBlank?.at(-1)?.contentIndent ?? 0);
  if (itemsAfterBlank !== undefined && blanks.length >= codeIndent) return undefined;
  const width = marker.trimEnd().length;
  return { markerWidth: width + Math.min(Math.max(marker.length - width, 1), 4) };
}
