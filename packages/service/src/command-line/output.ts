import type { Terminal } from './terminal.js';

export interface OutputFlags {
  readonly json?: true | undefined;
}

/** Flags of commands that ask for confirmation. */
export interface ConsentFlags extends OutputFlags {
  /** Skips the question. */
  readonly yes?: true | undefined;
}

/** The part of Commander's `Command` that this module uses. */
interface TakesOptions<Self> {
  option(flags: string, description: string): Self;
}

/** Adds the option `--json`. */
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

/** Formats rows as aligned columns without borders. */
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
