import type { RelayLinkStatus } from '@waxwing/server-push';
import {
  CommandError,
  type OutputFlags,
  printResult,
  type Terminal,
  withJson,
} from '@waxwing/service/command-line';
import type { Command } from 'commander';
import type { ServerConfiguration } from '../configuration.js';
import { withServerDatabase } from '../with-database.js';
import { addCheckCommand } from './check-command.js';
import { addSendCommand } from './send-command.js';

/** `waxwing-server push status|send|check`. */
export function addPushCommands(push: Command, terminal: Terminal): void {
  addStatusCommand(push, terminal);
  addSendCommand(push, terminal);
  addCheckCommand(push, terminal);
}

function addStatusCommand(push: Command, terminal: Terminal): void {
  withJson(push.command('status'))
    .description('print whether the relay is configured and answered when it was last asked; fails if not')
    .action(async (flags: OutputFlags) => {
      const { readRelayLinkStatus } = await import('@waxwing/server-push');
      await withServerDatabase(terminal, async ({ db }, { relay }) => {
        const status = await readRelayLinkStatus(db);
        printResult(terminal, flags, {
          machines: statusJson(relay, status),
          people: statusText(relay, status),
        });
        const isWorking = relay.kind === 'configured' && status.state !== 'failing';
        if (!isWorking) throw new CommandError('Push notifications do not work.');
      });
    });
}

function statusJson(relay: ServerConfiguration['relay'], status: RelayLinkStatus): object {
  const { lastError, lastRejection } = status;
  return {
    configured: relay.kind === 'configured',
    relay_url: relay.kind === 'configured' ? relay.url : null,
    state: relay.kind === 'configured' ? status.state : 'not-configured',
    last_success_at: instant(status.lastSuccessAt) ?? null,
    failing_since: instant(status.failingSince) ?? null,
    last_error_at: instant(lastError?.at) ?? null,
    last_error: lastError?.reason ?? null,
    last_rejection_at: instant(lastRejection?.at) ?? null,
    last_rejection: lastRejection?.reason ?? null,
  };
}

function statusText(relay: ServerConfiguration['relay'], status: RelayLinkStatus): string {
  if (relay.kind === 'not-configured') {
    return 'No relay is configured, so devices cannot register: set SERVER_RELAY_URL, SERVER_RELAY_SERVER_ID and SERVER_RELAY_SERVER_KEY_FILE.';
  }
  const lines = [`Relay: ${relay.url}`];
  if (status.state === 'untested') lines.push('It has not been asked yet.');
  if (status.state === 'working') lines.push('It answers.');
  if (status.state === 'failing') {
    lines.push(`Failing since ${instant(status.failingSince)}; the server tries again by itself.`);
  }
  if (status.lastSuccessAt !== undefined) lines.push(`Last success: ${instant(status.lastSuccessAt)}`);
  if (status.lastError !== undefined) {
    lines.push(`Last error: ${instant(status.lastError.at)}: ${status.lastError.reason}`);
  }
  if (status.lastRejection !== undefined) {
    const { at, reason } = status.lastRejection;
    lines.push(`Last notification that the relay did not deliver: ${instant(at)}: ${reason}`);
  }
  return lines.join('\n');
}

function instant(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();
}
