import { styleText } from 'node:util';
import type { Terminal } from './terminal.js';

/** The cells of a row. A cell may have several lines. */
export type TableRow = readonly (string | number)[];

export interface TableContent {
  readonly head: readonly string[];
  readonly rows: readonly TableRow[];
}

const stateColours: Readonly<Record<string, 'green' | 'yellow' | 'red'>> = {
  active: 'green',
  primary: 'green',
  running: 'green',
  accepted: 'yellow',
  waiting: 'yellow',
  'deletions confirmed': 'yellow',
  compromised: 'red',
  dead: 'red',
  'credential refused': 'red',
  'deletions frozen': 'red',
};

type TableTerminal = Pick<Terminal, 'columns' | 'isColoured'>;

/** Formats a table that fits the terminal's width. Colors the `state` column if the terminal supports colors. */
export async function formatTable(terminal: TableTerminal, { head, rows }: TableContent): Promise<string> {
  async function* pages() {
    yield rows;
  }
  const pieces: string[] = [];
  for await (const piece of tablePieces(terminal, { head, pages: pages() })) pieces.push(piece);
  return pieces.join('\n');
}

/** A table whose rows are formatted as they are read. */
export interface StreamedTable {
  readonly head: readonly string[];
  readonly pages: AsyncIterable<readonly TableRow[]>;
  /** Text to print instead of an empty table. */
  readonly none?: string | undefined;
}

/**
 * Like {@link formatTable}, but yields one piece of whole lines per page. The first page determines the column widths.
 * On a terminal, wider cells on later pages are wrapped. Without a terminal, they widen their column, so `grep` finds
 * each cell on one line.
 */
export async function* tablePieces(
  { columns, isColoured = false }: TableTerminal,
  { head, pages, none }: StreamedTable,
): AsyncGenerator<string> {
  const layout = { colours: head.map((title) => isColoured && title === 'state'), widths: [] as number[] };
  let isBegun = false;
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    if (columns === undefined || !isBegun) {
      const needed = fittingWidths(columns ?? Number.POSITIVE_INFINITY, { head, rows });
      layout.widths = needed.map((width, column) => Math.max(width, layout.widths[column] ?? 0));
    }
    if (!isBegun) yield writeHead(head, layout.widths);
    isBegun = true;
    yield rows.map((row) => `${border(layout.widths, '├┼┤')}\n${writeRow(row, layout)}`).join('\n');
  }
  if (!isBegun && none === undefined) {
    layout.widths = fittingWidths(columns ?? Number.POSITIVE_INFINITY, { head, rows: [] });
    yield writeHead(head, layout.widths);
  }
  yield isBegun || none === undefined ? border(layout.widths, '└┴┘') : none;
}

interface Layout {
  /** Whether each column is colored by state. */
  readonly colours: readonly boolean[];
  /** Column widths, including one space on each side. */
  readonly widths: readonly number[];
}

function writeHead(head: readonly string[], widths: readonly number[]): string {
  return `${border(widths, '┌┬┐')}\n${writeRow(head, { widths, colours: [] })}`;
}

function border(widths: readonly number[], [left, middle, right]: string): string {
  return `${left}${widths.map((width) => '─'.repeat(width)).join(middle)}${right}`;
}

function writeRow(row: TableRow, { colours, widths }: Layout): string {
  const cells = row.map((cell, column) => linesOf(cell, (widths[column] ?? 0) - cellPadding));
  const height = Math.max(...cells.map(({ length }) => length));
  const lines = Array.from({ length: height }, (_, index) => {
    const parts = cells.map((cell, column) => {
      const text = cell[index] ?? '';
      const padding = ' '.repeat(Math.max(0, (widths[column] ?? 0) - cellPadding - widthOf(text)));
      return ` ${colours[column] ? coloured(text) : text}${padding} `;
    });
    return `│${parts.join('│')}│`;
  });
  return lines.join('\n');
}

function coloured(state: string): string {
  const colour = stateColours[state];
  // The caller has already decided whether to use colors, so Node need not check the stream.
  return colour === undefined ? state : styleText(colour, state, { validateStream: false });
}

/** Splits a cell into lines of at most `room` columns. */
function linesOf(cell: string | number, room: number): string[] {
  return String(cell)
    .split('\n')
    .flatMap((line) => (widthOf(line) <= room ? [line] : wrapped(line, room)));
}

function wrapped(line: string, room: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const character of line) {
    if (current !== '' && widthOf(current + character) > room) {
      lines.push(current);
      current = '';
    }
    current += character;
  }
  return [...lines, current];
}

// Each cell has one space on each side.
const cellPadding = 2;
const narrowestCell = 4 + cellPadding;

/** Computes the column widths. Shrinks the widest column until the table fits. */
function fittingWidths(room: number, { head, rows }: TableContent): number[] {
  const widths = head.map((title, column) => {
    const lines = [title, ...rows.flatMap((row) => String(row[column] ?? '').split('\n'))];
    return cellPadding + lines.reduce((widest, line) => Math.max(widest, widthOf(line)), 0);
  });
  const border = widths.length + 1;
  for (;;) {
    const widest = Math.max(...widths);
    const tooMuch = widths.reduce((sum, width) => sum + width, border) - room;
    if (tooMuch <= 0 || widest <= narrowestCell) return widths;
    widths[widths.indexOf(widest)] = widest - 1;
  }
}

/** Returns the width of a string in terminal columns. Wide characters take two columns. */
function widthOf(text: string): number {
  return text.length + (text.match(wideCharacter)?.length ?? 0);
}

const wideCharacter =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/g;
