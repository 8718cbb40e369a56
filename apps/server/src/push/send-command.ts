import type { CountedResult } from '@waxwing/server-push';
import { type WaitFlag, withWait } from '@waxwing/server-push/commands';
import {
  CommandError,
  type OutputFlags,
  printResult,
  type Terminal,
  withJson,
} from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { withServerDatabase } from '../with-database.js';
import { adminNames } from './admin-names.js';
import type { SentText, TextToSend } from './send-text.js';

interface SendFlags extends OutputFlags, WaitFlag {
  readonly user: string;
  readonly text: string;
}

interface Sent extends SentText {
  readonly results: readonly CountedResult[];
  /** The relay link's last error, if the link is failing. */
  readonly trouble: string | undefined;
}

export function addSendCommand(push: Command, terminal: Terminal): void {
  withWait(withJson(push.command('send')))
    .description(
      "send a text to a user's phones through the running server, encrypted like a message, and print the relay's results",
    )
    .requiredOption('--user <address>', 'the e-mail address of the user')
    .requiredOption('--text <text>', 'the text to show; Markdown, as in a message')
    .action(async ({ user, text, wait, ...flags }: SendFlags) => {
      const sent = await send(terminal, { email: user, text }, wait);
      const { describeResults } = await import('@waxwing/server-push');
      const described = describeResults(sent.results);
      printResult(terminal, flags, { machines: sentJson(sent), people: sentText(sent, described, wait) });
      const { email } = sent.user;
      const { results, devices } = sent;
      const isRefused = results.length > 0 && !results.some(({ status }) => reaches.has(status));
      if (isRefused) throw new CommandError(`No phone of ${email} was notified: ${described}.`);
      if (results.some(({ status }) => status === 'rejected')) {
        throw new CommandError(
          `Not every phone of ${email} was notified; ${adminNames.push} status names causes and remedies.`,
        );
      }
      if (wait > 0 && countOf(results) < devices) {
        throw new CommandError(
          `It is unknown whether every phone of ${email} was notified; ${adminNames.push} status names causes and remedies.`,
        );
      }
    });
}

/** The result statuses of phones that were notified or will be notified. */
const reaches: ReadonlySet<string> = new Set(['sent', 'queued']);

async function send(terminal: Terminal, text: TextToSend, waitSeconds: number): Promise<Sent> {
  // Imported lazily, so that `--help` stays fast.
  const { findRelayAccount, readRelayLinkStatus } = await import('@waxwing/server-push');
  const { asCommandError } = await import('../people/realm/as-command-error.js');
  const { readRealm } = await import('../people/realm/realm-store.js');
  const { awaitReport } = await import('@waxwing/server-push/commands');
  const { sendText } = await import('./send-text.js');
  const { clock } = terminal;
  return withServerDatabase(terminal, async (database, configuration) => {
    const realm = await readRealm(database, configuration.realm, clock());
    const { account: relay } = await findRelayAccount(database, configuration, adminNames);
    const options = { clock, realm, relay };
    const sent = await sendText(database, options, text).catch(asCommandError);
    const results = await awaitReport(database, { ...sent, timeoutMilliseconds: waitSeconds * 1000 });
    const { state, lastError } = await readRelayLinkStatus(database.db);
    return { ...sent, results, trouble: state === 'failing' ? lastError?.reason : undefined };
  });
}

/** Returns the total number of devices in these results. */
function countOf(results: readonly CountedResult[]): number {
  return results.reduce((sum, { devices }) => sum + devices, 0);
}

function sentJson({ user, messageId, devices, results }: Sent): object {
  return {
    user_id: user.id,
    email: user.email,
    message_id: messageId,
    devices,
    results: results.map(({ status, reason, fault, app, devices: count }) => ({
      status,
      reason: reason ?? null,
      fault: fault ?? null,
      app: app ?? null,
      devices: count,
    })),
  };
}

function sentText({ user, devices, results, trouble }: Sent, described: string, waitSeconds: number): string {
  const whose = `${devices} ${devices === 1 ? 'device' : 'devices'} of ${user.email}`;
  const reported = countOf(results);
  if (reported >= devices) return `To ${whose}: ${described}.`;
  const lines = [`On its way to ${whose}.`];
  if (reported > 0) lines.push(`So far: ${described}.`);
  lines.push(
    trouble === undefined
      ? `The relay did not report all results within ${waitSeconds} s: is the server running (waxwing-server serve)?`
      : `The relay did not accept all notifications: ${trouble}; the server retries automatically.`,
  );
  return lines.join(' ');
}
