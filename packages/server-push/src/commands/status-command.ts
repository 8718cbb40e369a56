import { CommandError, type OutputFlags, printResult, withJson } from '@waxwing/service/command-line';
import { ConfigurationError } from '@waxwing/service/config';
import type { Command } from 'commander';
import type { AdminNames } from '../admin-names.js';
import { capitalized } from '../capitalized.js';
import type { RelayAccount } from '../server-push-options.js';
import type { FoundAccount } from '../settings/find-relay-account.js';
import { failed, type PushCheck, passed } from '../status/push-check.js';
import { enableRemedy, type PushProgram, type PushWork } from './push-program.js';

/** Adds `status`. */
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

async function check({ names, terminal }: PushProgram, { database, settings, realm, sodium }: PushWork) {
  const { clock } = terminal;
  const { checkPush } = await import('../status/check-push.js');
  const { findRelayAccount } = await import('../settings/find-relay-account.js');
  let found: FoundAccount | undefined;
  let problems: readonly PushCheck[];
  try {
    found = await findRelayAccount(database, settings, names);
    const isFromSettings = settings.relay.kind === 'configured';
    problems = [await checkConfiguration(database, found.account, { isFromSettings, names })];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    problems = error.problems.map((problem) => asCheck(problem));
  }
  const relay = found?.account.kind === 'configured' ? found.account : undefined;
  const pinnedSigningKey = found?.pinnedSigningKey;
  return [
    ...problems,
    ...(await checkPush({ database, relay, realm, pinnedSigningKey, sodium, clock, names })),
  ];
}

async function checkConfiguration(
  { db }: PushWork['database'],
  account: RelayAccount,
  { isFromSettings, names }: { readonly isFromSettings: boolean; readonly names: AdminNames },
): Promise<PushCheck> {
  const { push, prefix } = names;
  const { allAccounts } = await import('../relay-account/account-store.js');
  const check = 'configuration';
  if (account.kind === 'configured') {
    const source = isFromSettings ? `the ${prefix}RELAY_ settings` : `${push} enable`;
    return passed(check, `The relay is ${account.url}, by ${source}.`);
  }
  const [newest] = await allAccounts(db);
  const remedy = `${capitalized(enableRemedy(names))}.`;
  if (newest?.state === 'joining') {
    return failed(
      check,
      `Joining ${newest.url} has begun but did not finish, so devices cannot register.`,
      `Run ${push} enable --relay ${newest.url} again: it continues with the same credentials.`,
    );
  }
  if (newest?.state === 'leaving') {
    return failed(
      check,
      `Push was disabled, but the relay ${newest.url} does not know that yet.`,
      `Run ${push} disable again to finish, or ${push} enable --relay ${newest.url} to use it again.`,
    );
  }
  if (newest?.state === 'disabled') {
    return failed(
      check,
      `Push was disabled; the relay was ${newest.url}.`,
      `Run ${push} enable --relay ${newest.url} to use it again.`,
    );
  }
  return failed(check, 'No relay is configured, so devices cannot register.', remedy);
}

/** Converts a problem of the database to a check. @throws other errors unchanged. */
async function checkDatabase(error: unknown, { prefix }: AdminNames): Promise<PushCheck> {
  const { DatabaseUnavailableError, DatabaseUnusableError } = await import('@waxwing/storage');
  const check = 'database';
  if (error instanceof DatabaseUnusableError) return asCheck(error.message, check);
  if (!(error instanceof DatabaseUnavailableError)) throw error;
  return failed(check, error.message, `Make the database of ${prefix}DATABASE work, then check again.`);
}

/** Converts a problem to a check. The part after the last colon says what to do. */
function asCheck(problem: string, check = 'configuration'): PushCheck {
  const colon = problem.lastIndexOf(': ');
  const [cause, remedy] = colon < 0 ? [problem, ''] : [problem.slice(0, colon), problem.slice(colon + 2)];
  const whatToDo = remedy === '' ? 'Correct the setting.' : capitalized(remedy);
  return { check, ok: false, cause: colon < 0 ? cause : `${cause}.`, remedy: whatToDo };
}
