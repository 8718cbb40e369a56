import {
  CommandError,
  type ConsentFlags,
  type OutputFlags,
  printResult,
  requireConsent,
  type Terminal,
  withJson,
  withYes,
} from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { refuseIfConfigured } from './refuse-if-configured.js';
import { enableRemedy, type PushWork, withPush } from './with-push.js';

interface DisableFlags extends ConsentFlags {
  readonly forget?: true;
}

/** Adds `push test`, `push disable` and `push rotate-credentials`. */
export function addAccountCommands(push: Command, terminal: Terminal): void {
  addTest(push, terminal);
  addDisable(push, terminal);
  addRotate(push, terminal);
}

function addTest(push: Command, terminal: Terminal): void {
  withJson(push.command('test'))
    .description("send a test notification to a user's phones, and print what the relay says of each")
    .requiredOption('--user <address>', 'the e-mail address of the user')
    .action(async ({ user, ...flags }: OutputFlags & { readonly user: string }) => {
      const { sendTest } = await import('@waxwing/server-push');
      const { describeTest, requireSent, testJson } = await import('./describe-test.js');
      const { findRelayAccount } = await import('./find-relay-account.js');
      const { requireUser } = await import('../membership/user-administration/manage-users.js');
      const test = await withPush(terminal, async ({ database, configuration, realm, sodium }) => {
        const { account: relay } = await findRelayAccount(database, configuration);
        if (relay.kind === 'not-configured') throw notEnabled();
        const { id } = await requireUser(database, user);
        return sendTest({ database, relay, realm, sodium, clock: terminal.clock }, id);
      });
      if (test.kind === 'no-device') {
        throw new CommandError(
          `No phone of ${user} is registered, so nothing was sent: the app must be opened and signed in there first.`,
        );
      }
      printResult(terminal, flags, { machines: testJson(test), people: describeTest(test) });
      requireSent(test);
    });
}

function addDisable(push: Command, terminal: Terminal): void {
  withYes(withJson(push.command('disable')))
    .description('stop using the relay, in every process; push enable returns to it as the same server')
    .option('--forget', 'also delete the credentials; the relay then takes this server for another one')
    .action(async ({ forget, yes, ...flags }: DisableFlags) => {
      const disabled = await withPush(terminal, async ({ database, configuration }) => {
        refuseIfConfigured(configuration);
        const { disableAccount, forgetAccounts } = await import('@waxwing/server-push');
        const question = forget
          ? "No user gets notifications any more, and the relay's operator must help if this server is to return. Go on?"
          : 'No user gets notifications any more until push is enabled again. Go on?';
        await requireConsent(terminal, question, yes);
        const url = await disableAccount(database, terminal.clock());
        const forgotten = forget ? await forgetAccounts(database) : 0;
        if (url === undefined && forgotten === 0)
          throw new CommandError('Push is not enabled: nothing was changed.');
        return { relay_url: url ?? null, forgotten: forgotten > 0 };
      });
      const people = disabled.forgotten
        ? 'Push is disabled, and the credentials are deleted.'
        : `Push is disabled; waxwing-server push enable --relay ${disabled.relay_url} returns to the relay.`;
      printResult(terminal, flags, { machines: disabled, people });
    });
}

function addRotate(push: Command, terminal: Terminal): void {
  withJson(push.command('rotate-credentials'))
    .description("replace this server's key at the relay, which accepts the former one for ten minutes more")
    .action(async (flags: OutputFlags) => {
      const row = await withPush(terminal, (work) => rotate(terminal, work));
      printResult(terminal, flags, {
        machines: { relay_url: row.url, server_id: row.server_id },
        people: `This server has a new key at ${row.url}; every process uses it now.`,
      });
    });
}

async function rotate({ clock }: Terminal, { database, configuration, realm, sodium }: PushWork) {
  refuseIfConfigured(configuration);
  const { enabledAccount, rotateServerKey } = await import('@waxwing/server-push');
  const { readSecretKey } = await import('./read-secret-key.js');
  const row = await enabledAccount(database.db);
  if (row === undefined) throw notEnabled();
  const secretKey = await readSecretKey(configuration.pushAccount);
  const { readRelayNetwork } = await import('./read-relay-network.js');
  const network = await readRelayNetwork(configuration.relayNetwork);
  await rotateServerKey({ database, realm, network, secretKey, sodium, clock }, row);
  return row;
}

function notEnabled(): CommandError {
  return new CommandError(`Push is not enabled: ${enableRemedy}.`);
}
