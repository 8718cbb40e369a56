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
import type { z } from 'zod';
import type { changeAnswer, KeyOperation } from '../administration/key-admin.js';

export interface ChangeFlags extends OutputFlags {
  readonly dryRun?: true;
}
export interface AskedChangeFlags extends ChangeFlags, ConsentFlags {}

export function withDryRun(command: Command): Command {
  return withJson(command).option('--dry-run', 'only print what would change');
}

/** Adds the flags for a destructive command. */
export function withConsent(command: Command): Command {
  return withYes(withDryRun(command));
}

export interface AskedChange<Parameters extends z.ZodObject> {
  readonly operation: KeyOperation<Parameters, typeof changeAnswer>;
  /** The operation's parameters except `dry_run`, as strings. */
  readonly form?: Readonly<Record<string, string>>;
  /** Confirmation prompt; `undefined` for a change that destroys nothing. */
  readonly question?: string;
}

/** Changes the ring, or only describes the change for --dry-run. Prints the affected keys. */
export async function makeChange<Parameters extends z.ZodObject>(
  terminal: Terminal,
  flags: AskedChangeFlags,
  { operation, form, question }: AskedChange<Parameters>,
): Promise<void> {
  const { runKeyOperation } = await import('./admin-session.js');
  const run = (isDry: boolean) => runKeyOperation(terminal, operation, { ...form, dry_run: String(isDry) });
  if (!flags.dryRun && question !== undefined) {
    // The dry run comes first, so that an invalid change fails before the prompt.
    const { changes } = await run(true);
    await requireConsent(terminal, `${formatChanges(changes)}\n${question}`, flags.yes);
  }
  const made = await run(flags.dryRun ?? false);
  const heading = flags.dryRun ? 'This would change:' : 'Changed:';
  const changes = formatChanges(made.changes);
  const people = changes === '' ? 'Nothing changes.' : `${heading}\n${changes}`;
  printResult(terminal, flags, { machines: made, people });
}

function formatChanges(changes: readonly string[]): string {
  return changes.map((change) => `  ${change}`).join('\n');
}
