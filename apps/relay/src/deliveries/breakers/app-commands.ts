import {
  CommandError,
  type ConsentFlags,
  type ListFlags,
  printListing,
  printResult,
  requireConsent,
  type TableRow,
  type Terminal,
  withJson,
  withListing,
  withYes,
} from '@waxwing/service/command-line';
import { ConfigurationError, type Environment } from '@waxwing/service/config';
import type { Command } from 'commander';
import { recordingCommand } from '../../acts/record-command.js';
import { withRelayDatabase } from '../../with-database.js';
import type { StoredBreaker } from './breaker-store.js';

/** Lazy import, so that `--help` stays fast. */
const stores = () => import('./breaker-store.js');

/** Adds the `apps` commands that show refused credentials, outages and frozen deletions, and that confirm deletions. */
export function addAppCommands(apps: Command, terminal: Terminal): void {
  withListing(apps.command('status'), { searched: 'app, realm, server or reason' })
    .description('show apps with an open circuit breaker or a vendor outage, and why')
    .action(async (text: string | undefined, flags: ListFlags) => {
      const unchecked = await describeUncheckedApps(terminal.environment);
      await withRelayDatabase(terminal, async (database) => {
        const { BreakerStore } = await stores();
        await printListing(terminal, flags, {
          name: 'apps',
          pages: new BreakerStore(database).pages({ text, limit: flags.limit }),
          machines: formatForMachines,
          more: { unchecked: unchecked ?? null },
          head: ['app', 'whose', 'state', 'since', 'why'],
          people: formatRow,
          none: describeNone(text, unchecked),
        });
      });
      if (unchecked !== undefined) throw new CommandError(unchecked);
    });
  withYes(withJson(apps.command('confirm-deletions')))
    .description(
      "confirm that an app's dead tokens are really dead: deletions resume, and do not freeze again for a day",
    )
    .argument('<app>', 'the app as "apps status" shows it, such as fcm:my-project')
    .action(async (app: string, { json, yes }: ConsentFlags) => {
      await withRelayDatabase(terminal, async (database) => {
        const { BreakerStore } = await stores();
        const act = { action: 'apps confirm-deletions', subject: app };
        const store = new BreakerStore(recordingCommand(database, terminal, act));
        const frozen = (await store.list()).filter((breaker) => breaker.app === app && isFrozen(breaker));
        if (frozen.length === 0) {
          throw new CommandError(`The deletions of "${app}" are not frozen: "apps status" shows which are.`);
        }
        const reasons = frozen.map((breaker) => `${whoseOf(breaker)}: ${breaker.reason}`).join('; ');
        const question = `${reasons}. Devices with dead tokens are deleted and must register again. Continue?`;
        await requireConsent(terminal, question, yes);
        await store.confirm(app, terminal.clock());
      });
      printResult(
        terminal,
        { json },
        {
          machines: { app, state: 'confirmed' },
          people: `Dead tokens of ${app} are deleted again; a running relay notices within seconds.`,
        },
      );
    });
}

function describeNone(text: string | undefined, unchecked: string | undefined): string {
  if (text !== undefined)
    return `No circuit breaker or outage has "${text}" in its app, realm, server or reason.`;
  return unchecked === undefined
    ? 'No circuit breaker is open.'
    : 'The database records no open circuit breaker.';
}

/**
 * Explains why a relay with these settings cannot deliver anything, regardless of its database. Returns `undefined` if
 * the settings allow deliveries.
 */
async function describeUncheckedApps(environment: Environment): Promise<string | undefined> {
  const { readAppsFileSetting } = await import('../deliveries-configuration.js');
  try {
    const file = readAppsFileSetting(environment);
    if (file === undefined) {
      return 'RELAY_APPS_FILE is not set here, so this command cannot check the apps: set it to the value that the relay uses.';
    }
    const { readAppsFile } = await import('../apps/read-apps-file.js');
    await readAppsFile(file);
    return undefined;
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems.join('\n  ');
    throw error;
  }
}

function isFrozen({ kind, confirmedAt }: StoredBreaker): boolean {
  return kind === 'deletion' && confirmedAt === undefined;
}

/** Names the scope of a breaker: `all`, a realm or a server. */
function whoseOf({ scope }: StoredBreaker): string {
  return scope === '' ? 'all' : scope;
}

function stateOf(breaker: StoredBreaker): string {
  if (breaker.kind === 'credential') return 'credential refused';
  if (breaker.kind === 'outage') return 'vendor outage';
  return isFrozen(breaker) ? 'deletions frozen' : 'deletions confirmed';
}

function formatForMachines(breaker: StoredBreaker): object {
  return {
    app: breaker.app,
    whose: whoseOf(breaker),
    state: stateOf(breaker),
    reason: breaker.reason,
    since: new Date(breaker.openedAt).toISOString(),
    confirmed_at: breaker.confirmedAt === undefined ? null : new Date(breaker.confirmedAt).toISOString(),
  };
}

function formatRow(breaker: StoredBreaker): TableRow {
  return [
    breaker.app,
    whoseOf(breaker),
    stateOf(breaker),
    new Date(breaker.openedAt).toISOString(),
    breaker.reason,
  ];
}
