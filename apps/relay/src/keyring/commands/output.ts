import type { JsonObject } from '@waxwing/protocol';
import {
  type ConsentFlags,
  type OutputFlags,
  printResult,
  requireConsent,
  type Terminal,
  withJson,
  withYes,
} from '@waxwing/service/command-line';
import type { Command } from 'commander';
import type { AdminCommandName } from '../administration/admin-commands.js';
import { runKeyCommand } from './admin-session.js';

export interface ChangeFlags extends OutputFlags {
  readonly dryRun?: true;
}
export interface AskedChangeFlags extends ChangeFlags, ConsentFlags {}

export function withDryRun(command: Command): Command {
  return withJson(command).option('--dry-run', 'only say what would change');
}

/** For a change that destroys something. */
export function withConsent(command: Command): Command {
  return withYes(withDryRun(command));
}

export interface AskedChange {
  readonly command: AdminCommandName;
  readonly arguments: JsonObject;
  /** Asked before the change is made; `undefined` for one that destroys nothing. */
  readonly question?: string;
}

/** Makes a change to the ring, or with --dry-run only says what it would be, and prints which keys it concerns. */
export async function makeChange(
  terminal: Terminal,
  flags: AskedChangeFlags,
  { command, arguments: given, question }: AskedChange,
): Promise<void> {
  const preview = () => runKeyCommand(terminal, command, { ...given, dryRun: true });
  if (!flags.dryRun && question !== undefined) {
    // A change that would be refused is refused before anybody is asked.
    const { changes } = await preview();
    await requireConsent(terminal, `${formatChanges(changes)}\n${question}`, flags.yes);
  }
  const made = flags.dryRun
    ? await preview()
    : await runKeyCommand(terminal, command, { ...given, dryRun: false });
  const heading = flags.dryRun ? 'This would change:' : 'Changed:';
  const changes = formatChanges(made.changes);
  const people = changes === '' ? 'Nothing changes.' : `${heading}\n${changes}`;
  printResult(terminal, flags, { machines: made, people });
}

function formatChanges(changes: unknown): string {
  return Array.isArray(changes) ? changes.map((change) => `  ${change}`).join('\n') : '';
}
