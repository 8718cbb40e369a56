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

/** A table with lines around its cells; a cell may have several lines of text. */
export async function formatTable(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): Promise<string> {
  // Loaded for those who print a table, and not for --help.
  const { default: Table } = await import('cli-table3');
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  table.push(...rows.map((row) => [...row]));
  return table.toString();
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
