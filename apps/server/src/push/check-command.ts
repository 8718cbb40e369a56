import type { RelayCheck } from '@waxwing/server-push';
import {
  CommandError,
  type OutputFlags,
  printResult,
  type Terminal,
  withJson,
} from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { withServerDatabase } from '../with-database.js';

/** Adds `push check`. */
export function addCheckCommand(push: Command, terminal: Terminal): void {
  withJson(push.command('check'))
    .description('ask the relay, as this server, whether address, key, realm, clock and key list are right')
    .action(async (flags: OutputFlags) => {
      const checks = await check(terminal);
      printResult(terminal, flags, {
        machines: { ok: checks.every(({ ok }) => ok), checks },
        people: checks
          .map(({ name, ok, sentence }) => `${ok ? 'ok    ' : 'FAILED'}  ${name}: ${sentence}`)
          .join('\n'),
      });
      const wrong = checks.filter(({ ok }) => !ok).map(({ name }) => name);
      if (wrong.length > 0)
        throw new CommandError(`Notifications cannot be relied on: see ${wrong.join(' and ')}.`);
    });
}

async function check(terminal: Terminal): Promise<RelayCheck[]> {
  // Imported lazily, so that help starts fast.
  const { checkRelay } = await import('@waxwing/server-push');
  const { readRealm } = await import('../people/realm/realm-store.js');
  const { readRelayKey } = await import('./read-relay-key.js');
  const { clock } = terminal;
  return withServerDatabase(terminal, async (database, configuration) => {
    const relay = await readRelayKey(configuration.relay);
    if (relay.kind === 'not-configured') {
      throw new CommandError(
        'No relay is configured: set SERVER_RELAY_URL, SERVER_RELAY_SERVER_ID and SERVER_RELAY_SERVER_KEY_FILE.',
      );
    }
    const realm = await readRealm(database, configuration.realm, clock());
    return checkRelay({ relay, realm, clock });
  });
}
