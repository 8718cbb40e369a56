import { styleText } from 'node:util';
import type { Terminal } from './terminal.js';

export interface OutputFlags {
  readonly json?: true | undefined;
}

/** Flags of a command that asks for confirmation. */
export interface ConsentFlags extends OutputFlags {
  /** Skips the question. */
  readonly yes?: true | undefined;
}

/** The part of Commander's `Command` that is used here. */
interface TakesOptions<Self> {
  option(flags: string, description: string): Self;
}

/** Adds `--json`. */
export function withJson<Command extends TakesOptions<Command>>(command: Command): Command {
  return command.option('--json', 'print JSON');
}

export function withYes<Command extends TakesOptions<Command>>(command: Command): Command {
  return command.option('--yes', 'do not ask');
}

export interface CommandResult {
  readonly machines: object;
  readonly people: string;
}

/** Prints a command's result: as text, or with `--json` as JSON. */
export function printResult(
  terminal: Pick<Terminal, 'print'>,
  { json }: OutputFlags,
  { machines, people }: CommandResult,
): void {
  terminal.print(json ? JSON.stringify(machines) : people);
}

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

/** Formats a table that fits the terminal's width. Colors the `state` column if the terminal shows colors. */
export async function formatTable(
  { columns, isColoured = false }: Pick<Terminal, 'columns' | 'isColoured'>,
  { head, rows }: TableContent,
): Promise<string> {
  // Loaded lazily: --help needs no table.
  const { default: Table } = await import('cli-table3');
  const colWidths = columns === undefined ? [] : fittingWidths(columns, { head, rows });
  const style = { head: [], border: [] };
  const table = new Table({ head: [...head], style, colWidths, wordWrap: true, wrapOnWordBoundary: false });
  const cellOf = (cell: string | number, column: number) => {
    const colour = head[column] === 'state' && isColoured ? stateColours[cell] : undefined;
    // `isColoured` is already decided, so that Node need not check the stream.
    return colour === undefined ? cell : styleText(colour, String(cell), { validateStream: false });
  };
  table.push(...rows.map((row) => row.map(cellOf)));
  return table.toString();
}

// One space on each side.
const cellPadding = 2;
const narrowestCell = 4 + cellPadding;

/** Column widths. Shrinks the widest column until the table fits. */
function fittingWidths(room: number, { head, rows }: TableContent): number[] {
  const linesOf = (cell: string | number | undefined) => String(cell ?? '').split('\n');
  const widths = head.map((title, column) => {
    const lines = [title, ...rows.flatMap((row) => linesOf(row[column]))];
    return cellPadding + Math.max(...lines.map(({ length }) => length));
  });
  const border = widths.length + 1;
  for (;;) {
    const widest = Math.max(...widths);
    const tooMuch = widths.reduce((sum, width) => sum + width, border) - room;
    if (tooMuch <= 0 || widest <= narrowestCell) return widths;
    widths[widths.indexOf(widest)] = widest - 1;
  }
}

/** Formats rows as aligned columns, without lines. */
export function formatColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
