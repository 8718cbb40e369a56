import type { JsonObject } from '@waxwing/protocol';
import { requireConsent, type Terminal } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import type { DeskCommandName } from '../administration/desk-commands.js';
import { askDesk } from './desk-session.js';

export interface OutputFlags {
  readonly json?: true;
}
export interface ChangeFlags extends OutputFlags {
  readonly dryRun?: true;
}
export interface ConsentFlags extends ChangeFlags {
  readonly yes?: true;
}

export function withJson(command: Command): Command {
  return command.option('--json', 'print JSON').allowExcessArguments(false);
}

export function withDryRun(command: Command): Command {
  return withJson(command).option('--dry-run', 'only say what would change');
}

export function withConsent(command: Command): Command {
  return withDryRun(command).option('--yes', 'do not ask');
}

export function printResult(
  terminal: Terminal,
  { json }: OutputFlags,
  { machines, people }: { readonly machines: JsonObject; readonly people: string },
): void {
  terminal.print(json ? JSON.stringify(machines) : people);
}

export interface AskedChange {
  readonly command: DeskCommandName;
  readonly arguments: JsonObject;
  /** Asked before the change is made; `undefined` for one that destroys nothing. */
  readonly question?: string;
}

/** Makes a change to the ring, or with --dry-run only says what it would be, and prints which keys it concerns. */
export async function makeChange(
  terminal: Terminal,
  flags: ConsentFlags,
  { command, arguments: given, question }: AskedChange,
): Promise<void> {
  const preview = () => askDesk(terminal, command, { ...given, dryRun: true });
  if (!flags.dryRun && question !== undefined) {
    // A change that would be refused is refused before anybody is asked.
    const { changes } = await preview();
    await requireConsent(terminal, `${formatChanges(changes)}\n${question}`, flags.yes);
  }
  const made = flags.dryRun ? await preview() : await askDesk(terminal, command, { ...given, dryRun: false });
  const heading = flags.dryRun ? 'This would change:' : 'Changed:';
  const changes = formatChanges(made.changes);
  const people = changes === '' ? 'Nothing changes.' : `${heading}\n${changes}`;
  printResult(terminal, flags, { machines: made, people });
}

function formatChanges(changes: unknown): string {
  return Array.isArray(changes) ? changes.map((change) => `  ${change}`).join('\n') : '';
}
