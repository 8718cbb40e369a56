import {
  CommandError,
  type ConsentFlags,
  type OutputFlags,
  printResult,
  requireConsent,
} from '@waxwing/service/command-line';
import { ConfigurationError } from '@waxwing/service/config';
import { endRegistrations } from '../end-registrations.js';
import {
  allAccounts,
  disableAccount,
  forgetAccounts,
  markLeft,
  type StoredAccount,
} from '../relay-account/account-store.js';
import { type LeaveRelayOptions, leaveRelay } from '../relay-account/leave-relay.js';
import { readRelayNetwork } from '../settings/read-relay-network.js';
import { readSecretKey } from '../settings/read-secret-key.js';
import type { PushProgram, PushWork } from './push-program.js';
import { refuseIfConfigured } from './refuse-if-configured.js';

/** Flags of `push disable`. */
export interface DisableFlags extends ConsentFlags, OutputFlags {
  readonly forget?: true;
}

/**
 * Stops push in every process, then leaves the relay. Push stops even if the relay is down; running the command again
 * completes the deregistration. @throws CommandError if push is not enabled, or if the deregistration failed.
 */
export async function disablePush(program: PushProgram, work: PushWork, flags: DisableFlags): Promise<void> {
  refuseIfConfigured(work.settings, program.names);
  const question = flags.forget
    ? "No user gets notifications any more, and this server can return only with the help of the relay's operator. Continue?"
    : 'No user gets notifications any more until push is enabled again. Continue?';
  await requireConsent(program.terminal, question, flags.yes);
  await (flags.forget ? forget(program, work, flags) : disable(program, work, flags));
}

async function disable(program: PushProgram, work: PushWork, flags: DisableFlags): Promise<void> {
  const { terminal, names } = program;
  const { clock } = terminal;
  const { database } = work;
  const account = await disableAccount(database, clock());
  if (account === undefined) throw notEnabled();
  const { url } = account;
  // The server does not leave a stock relay, because only that relay's operator could let the server return.
  const isStock = account.signing_public_key === null;
  const trouble = isStock ? undefined : await leave(program, work, account);
  if (trouble === undefined) await markLeft(database, url, clock());
  const isLeft = !isStock && trouble === undefined;
  printResult(terminal, flags, {
    machines: { relay_url: url, forgotten: false, left_relay: isLeft },
    people: [
      'Push is disabled.',
      ...(isLeft ? [`The relay ${url} no longer serves this server.`] : []),
      ...(isStock
        ? [`This server stays registered at ${url}: ${names.push} disable --forget ends that.`]
        : []),
      `${names.push} enable --relay ${url} returns to the relay.`,
    ].join(' '),
  });
  if (trouble === undefined) return;
  throw new CommandError(
    `This server is still registered at the relay, because ${trouble}: run ${names.push} disable again later.`,
  );
}

async function forget(program: PushProgram, work: PushWork, flags: DisableFlags): Promise<void> {
  const { terminal } = program;
  const { clock } = terminal;
  const { database } = work;
  const accounts = await allAccounts(database.db);
  if (accounts.length === 0) throw notEnabled();
  // Disable push here first, so that no process uses credentials that the relay is about to revoke.
  const current = await disableAccount(database, clock());
  const leftovers: string[] = [];
  const returns: string[] = [];
  for (const account of accounts) {
    const trouble = await leave(program, work, account);
    if (trouble === undefined) {
      if (account.state !== 'joining') returns.push(howToReturn(account, program.names.push));
      continue;
    }
    leftovers.push(
      `The server could not leave the relay ${account.url}, because ${trouble}: ask its operator for waxwing-relay servers remove ${account.server_id}.`,
    );
  }
  const publish = (await program.publisherOf?.(database)) ?? (async () => undefined);
  const devices = await endRegistrations({ database, publish });
  await forgetAccounts(database);
  printResult(terminal, flags, {
    machines: {
      relay_url: current?.url ?? null,
      forgotten: true,
      left_relay: leftovers.length === 0,
      registrations_ended: devices,
    },
    people: [
      `Push is disabled, and the credentials are deleted. ${devices} ${devices === 1 ? 'phone' : 'phones'} must register again.`,
      ...leftovers,
      ...returns,
    ].join('\n'),
  });
}

function howToReturn({ url, server_id: id, signing_public_key: key }: StoredAccount, push: string): string {
  const inRelay = key === null ? `to reactivate the server ${id}` : `for waxwing-relay servers resume ${id}`;
  return `To return to ${url}, ask its operator ${inRelay}, then run ${push} enable --relay ${url} --transfer.`;
}

/** Leaves the relay. Returns the reason on failure, otherwise `undefined`. */
async function leave(
  { names, terminal: { clock } }: PushProgram,
  { settings, realm }: PushWork,
  account: StoredAccount,
): Promise<string | undefined> {
  let options: LeaveRelayOptions;
  try {
    const secretKey = await readSecretKey(settings.pushAccount, names);
    const network = await readRelayNetwork(settings.relayNetwork, names);
    options = { realm, network, secretKey, clock, names };
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems.join(' ').replace(/\.$/, '');
    throw error;
  }
  return leaveRelay(options, account);
}

function notEnabled(): CommandError {
  return new CommandError('Push is not enabled: nothing was changed.');
}
