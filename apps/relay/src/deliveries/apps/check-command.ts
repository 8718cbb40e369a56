import {
  CommandError,
  type OutputFlags,
  printResult,
  type Terminal,
  withJson,
} from '@waxwing/service/command-line';
import { createLogger } from '@waxwing/service/logging';
import { loadFastestSodium } from '@waxwing/sodium/native';
import type { Command } from 'commander';
import { readRelayEnvironment } from '../../configuration.js';
import { readTokenVault } from '../../keyring/open-key-ring.js';
import { withRelayDatabase } from '../../with-database.js';
import { productionTimings } from '../delivery-timings.js';
import { ProviderTokenStore } from '../vendors/apns/token.js';
import { AppRegistry } from './app-registry.js';
import { type AppCheck, checkApps } from './check-apps.js';

interface CheckFlags extends OutputFlags {
  readonly topic?: string;
}

/** Adds `apps check`. */
export function addAppCheckCommand(apps: Command, terminal: Terminal): void {
  withJson(apps.command('check'))
    .description('ask Google and Apple whether they take the credential of each app; no phone gets anything')
    .option('--topic <bundle-id>', 'the app to ask Apple about for an entry with "topics": "*"')
    .action(async ({ topic, json }: CheckFlags) => {
      const checks = await check(terminal, topic);
      printResult(
        terminal,
        { json },
        {
          machines: { ok: checks.every(({ ok }) => ok), apps: checks },
          people: checks
            .map(({ app, ok, sentence }) => `${ok ? 'ok    ' : 'FAILED'}  ${app}: ${sentence}`)
            .join('\n'),
        },
      );
      const wrong = checks.filter(({ ok }) => !ok).map(({ app }) => app);
      if (wrong.length > 0)
        throw new CommandError(`Not every credential is known to be good: see ${wrong.join(', ')}.`);
    });
}

/** Apple's tokens are the relay's own, out of its database: Apple wants no second one within 20 minutes. */
function check(terminal: Terminal, topic: string | undefined): Promise<AppCheck[]> {
  const { deliveries: configuration, keyRing } = readRelayEnvironment(terminal.environment);
  if (configuration.apps.kind === 'not-configured') {
    throw new CommandError(
      'RELAY_APPS_FILE is not set, so there is no app to check: set it as the relay has it.',
    );
  }
  const { clock } = terminal;
  return withRelayDatabase(terminal, async (database) => {
    const { sodium } = await loadFastestSodium();
    const tokenVault = await readTokenVault(keyRing, { sodium, clock, database });
    const apps = await AppRegistry.open({
      ...{ configuration, clock, timings: productionTimings },
      // What would be logged is in the answers.
      log: createLogger('waxwing-relay', 'silent', { write: () => undefined }),
      providerTokens: new ProviderTokenStore(database, tokenVault),
    });
    try {
      return await checkApps({ apps, configuration, clock, topic });
    } finally {
      await apps.close(0);
    }
  });
}
