import { styleText } from 'node:util';
import type { Terminal } from './terminal.js';

export interface OutputFlags {
  readonly json?: true | undefined;
}

/** Flags of a command that asks before it does something. */
export interface ConsentFlags extends OutputFlags {
  /** The answer given in advance. */
  readonly yes?: true | undefined;
}

/** As much of Commander's `Command` as is needed here. */
interface TakesOptions<Self> {
  option(flags: string, description: string): Self;
}

/** Every command prints for people, or with --json for machines. */
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

/** Prints a command's result for whoever it is wanted by. */
export function printResult(
  terminal: Pick<Terminal, 'print'>,
  { json }: OutputFlags,
  { machines, people }: CommandResult,
): void {
  terminal.print(json ? JSON.stringify(machines) : people);
}

export interface TableContent {
  readonly head: readonly string[];
  /** A cell may have several lines of text. */
  readonly rows: readonly (readonly (string | number)[])[];
}

const stateColours: Readonly<Record<string, 'green' | 'yellow' | 'red'>> = {
  ...{ active: 'green', primary: 'green', running: 'green' },
  ...{ accepted: 'yellow', waiting: 'yellow', 'deletions confirmed': 'yellow' },
  ...{ compromised: 'red', dead: 'red', 'credential refused': 'red', 'deletions frozen': 'red' },
};

/** A table with lines around its cells, as wide as the terminal at most; states are coloured where it shows colours. */
export async function formatTable(
  { columns, isColoured = false }: Pick<Terminal, 'columns' | 'isColoured'>,
  { head, rows }: TableContent,
): Promise<string> {
  // Loaded for those who print a table, and not for --help.
  const { default: Table } = await import('cli-table3');
  const colWidths = columns === undefined ? [] : fittingWidths(columns, { head, rows });
  const style = { head: [], border: [] };
  const table = new Table({ head: [...head], style, colWidths, wordWrap: true, wrapOnWordBoundary: false });
  const cellOf = (cell: string | number, column: number) => {
    const colour = head[column] === 'state' && isColoured ? stateColours[cell] : undefined;
    // Whether it is wanted has been decided for the terminal.
    return colour === undefined ? cell : styleText(colour, String(cell), { validateStream: false });
  };
  table.push(...rows.map((row) => row.map(cellOf)));
  return table.toString();
}

// A space on each side.
const cellPadding = 2;
const narrowestCell = 4 + cellPadding;

/** The widths of the columns, the widest made narrower until all of them fit. */
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

/** Lines of aligned columns. */
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
