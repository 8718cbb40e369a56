import { styleText } from 'node:util';
import type { Terminal } from './terminal.js';

export interface TableContent {
  readonly head: readonly string[];
  /** Cells may be multi-line. */
  readonly rows: readonly (readonly (string | number)[])[];
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

/** The table library's time grows with the square of the rows, so long tables are laid out in pieces of this length. */
const rowsPerPiece = 50;

/** Formats a table that fits the terminal's width. Colors the `state` column if the terminal shows colors. */
export async function formatTable(
  { columns, isColoured = false }: Pick<Terminal, 'columns' | 'isColoured'>,
  { head, rows }: TableContent,
): Promise<string> {
  // Loaded lazily: --help needs no table.
  const { default: Table } = await import('cli-table3');
  const isLong = rows.length > rowsPerPiece;
  // Pieces have the same columns only if their widths are given.
  const room = columns ?? (isLong ? Number.POSITIVE_INFINITY : undefined);
  const colWidths = room === undefined ? [] : fittingWidths(room, { head, rows });
  const cellOf = (cell: string | number, column: number) => {
    const colour = head[column] === 'state' && isColoured ? stateColours[cell] : undefined;
    // `isColoured` is already decided, so that Node need not check the stream.
    return colour === undefined ? cell : styleText(colour, String(cell), { validateStream: false });
  };
  const options = { style: { head: [], border: [] }, colWidths, wordWrap: true, wrapOnWordBoundary: false };
  const pieces: string[] = [];
  for (let start = 0; start === 0 || start < rows.length; start += rowsPerPiece) {
    const table = new Table({ ...options, ...(start === 0 ? { head: [...head] } : { chars: continued }) });
    table.push(...rows.slice(start, start + rowsPerPiece).map((row) => row.map(cellOf)));
    const isLast = start + rowsPerPiece >= rows.length;
    pieces.push(isLast ? table.toString() : withoutLastLine(table.toString()));
  }
  return pieces.join('\n');
}

/** The upper border of a piece that continues a table: the line between two rows. */
const continued = { top: '─', 'top-mid': '┼', 'top-left': '├', 'top-right': '┤' };

function withoutLastLine(text: string): string {
  return text.slice(0, text.lastIndexOf('\n'));
}

// One space on each side.
const cellPadding = 2;
const narrowestCell = 4 + cellPadding;

/** Column widths. Shrinks the widest column until the table fits. */
function fittingWidths(room: number, { head, rows }: TableContent): number[] {
  const linesOf = (cell: string | number | undefined) => String(cell ?? '').split('\n');
  const widths = head.map((title, column) => {
    const lines = [title, ...rows.flatMap((row) => linesOf(row[column]))];
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

/** The columns of a terminal that a text takes: two for each wide character. */
function widthOf(text: string): number {
  return text.length + (text.match(wideCharacter)?.length ?? 0);
}

const wideCharacter =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/g;
