import {
  CommandError,
  type OutputFlags,
  printResult,
  withJson,
  withYes,
} from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { type AdminNames, enableRemedy } from '../admin-names.js';
import type { DisableFlags } from './disable-push.js';
import type { PushProgram, PushWork } from './push-program.js';
import { refuseIfConfigured } from './refuse-if-configured.js';
import { type WaitFlag, withWait } from './wait-flag.js';

/** Adds the commands `test`, `disable` and `rotate-credentials`. */
export function addAccountCommands(push: Command, program: PushProgram): void {
  addTest(push, program);
  addDisable(push, program);
  addRotate(push, program);
}

function addTest(push: Command, program: PushProgram): void {
  const { terminal, names } = program;
  withWait(withJson(push.command('test')))
    .description("send a test notification to a user's phones, and print the relay's result for each phone")
    .requiredOption(`--user <${program.userIs.kind}>`, program.userIs.description)
    .action(async ({ user, wait, ...flags }: OutputFlags & WaitFlag & { readonly user: string }) => {
      const { sendTest } = await import('../notifications/send-test.js');
      const { describeTest, requireSent, testJson } = await import('./describe-test.js');
      const { findRelayAccount } = await import('../settings/find-relay-account.js');
      const test = await program.withPush(async ({ database, settings, realm, sodium }) => {
        const { account: relay } = await findRelayAccount(database, settings, names);
        if (relay.kind === 'not-configured') throw notEnabled(names);
        const id = await program.findUser(database, user);
        const { clock } = terminal;
        return sendTest({ database, relay, realm, sodium, clock, waitSeconds: wait }, id);
      });
      if (test.kind === 'no-device') {
        throw new CommandError(
          `No phone of ${user} is registered, so nothing was sent: the app must be opened and signed in there first.`,
        );
      }
      printResult(terminal, flags, { machines: testJson(test), people: describeTest(test) });
      requireSent(test, names);
    });
}

function addDisable(push: Command, program: PushProgram): void {
  withYes(withJson(push.command('disable')))
    .description('stop using the relay, in every process; enable returns to it as the same server')
    .option('--forget', 'also delete the credentials; the relay then treats this server as a new one')
    .action(async (flags: DisableFlags) => {
      const { disablePush } = await import('./disable-push.js');
      await program.withPush((work) => disablePush(program, work, flags));
    });
}

function addRotate(push: Command, program: PushProgram): void {
  const { terminal } = program;
  withJson(push.command('rotate-credentials'))
    .description(
      "replace this server's key at the relay, which accepts the previous key for ten more minutes",
    )
    .action(async (flags: OutputFlags) => {
      const row = await program.withPush((work) => rotate(program, work));
      printResult(terminal, flags, {
        machines: { relay_url: row.url, server_id: row.server_id },
        people: `This server has a new key at ${row.url}; every process uses it now.`,
      });
    });
}

async function rotate(program: PushProgram, { database, settings, realm, sodium }: PushWork) {
  const { names, terminal } = program;
  const { clock } = terminal;
  refuseIfConfigured(settings, names);
  const { enabledAccount } = await import('../relay-account/account-store.js');
  const { rotateServerKey } = await import('../relay-account/enable-relay.js');
  const { readSecretKey } = await import('../settings/read-secret-key.js');
  const row = await enabledAccount(database.db);
  if (row === undefined) throw notEnabled(names);
  const secretKey = await readSecretKey(settings.pushAccount, names);
  const { readRelayNetwork } = await import('../settings/read-relay-network.js');
  const network = await readRelayNetwork(settings.relayNetwork, names);
  await rotateServerKey({ database, realm, network, secretKey, sodium, clock, names }, row);
  return row;
}

function notEnabled(names: AdminNames): CommandError {
  return new CommandError(`Push is not enabled: ${enableRemedy(names)}.`);
}
