import { CommandError, type OutputFlags, printResult, withJson } from '@waxwing/service/command-line';
import { ConfigurationError } from '@waxwing/service/config';
import type { Command } from 'commander';
import type { AdminNames } from '../admin-names.js';
import { asCheck, failed, type PushCheck } from '../status/push-check.js';
import type { PushProgram, PushWork } from './push-program.js';

/** Adds the command `status`. */
export function addStatusCommand(push: Command, program: PushProgram): void {
  withJson(push.command('status'))
    .description(
      'check push from the configuration to the phones, and print what to do; fails if it does not work',
    )
    .action(async (flags: OutputFlags) => {
      const checks = await checkAll(program);
      printResult(program.terminal, flags, { machines: checks, people: checks.map(describe).join('\n') });
      const wrong = [...new Set(checks.filter(({ ok }) => !ok).map(({ check }) => check))];
      if (wrong.length > 0) {
        throw new CommandError(`Push notifications do not work: see ${wrong.join(' and ')}.`);
      }
    });
}

function describe({ check, ok, cause, remedy }: PushCheck): string {
  return `${ok ? 'ok    ' : 'FAILED'}  ${check}: ${cause}${remedy === null ? '' : ` ${remedy}`}`;
}

async function checkAll(program: PushProgram): Promise<readonly PushCheck[]> {
  try {
    return await program.withPush((work) => check(program, work));
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems.map((problem) => asCheck(problem));
    return [await checkDatabase(error, program.names)];
  }
}

async function check({ names, terminal: { clock } }: PushProgram, work: PushWork) {
  const { checkConfiguredPush } = await import('../status/check-configured-push.js');
  return checkConfiguredPush({ ...work, names, clock });
}

/** Converts a database problem to a failed check. Rethrows other errors. */
async function checkDatabase(error: unknown, { prefix }: AdminNames): Promise<PushCheck> {
  const { DatabaseUnavailableError, DatabaseUnusableError } = await import('@waxwing/storage');
  const check = 'database';
  if (error instanceof DatabaseUnusableError) return asCheck(error.message, check);
  if (!(error instanceof DatabaseUnavailableError)) throw error;
  return failed(check, error.message, `Make the database of ${prefix}DATABASE work, then check again.`);
}
