import { type AdministeredDatabase, administrationGroups } from '@waxwing/administration/groups';
import { type CommandGroup, packageVersion, runProgram, type Terminal } from '@waxwing/service/command-line';
import type { StartCheck } from '@waxwing/service/config';
import { remedyIfMissing } from './with-database.js';

const name = 'waxwing-relay';

/** Runs one command. Resolves to the exit status: 0 for success, 1 for failure, 2 for a usage error. */
export function runRelayCommand(argv: readonly string[], terminal: Terminal): Promise<number> {
  return runProgram(
    {
      name,
      description: 'Accepts sealed registrations from servers and delivers notifications that it cannot read',
      version: () => packageVersion(new URL('../package.json', import.meta.url)),
      serve: {
        description:
          'run the relay; it is configured by RELAY_ variables and logs JSON lines to standard output',
        run: serve,
        checks: startChecks,
      },
      groups: commandGroups,
      settings: { prefix: 'RELAY_', defaultFile: '/etc/waxwing/relay.env' },
    },
    argv,
    terminal,
  );
}

function commandGroups(terminal: Terminal): readonly CommandGroup[] {
  return [
    {
      name: 'servers',
      description: 'which servers may use this relay, and for which realms',
      add: async (servers) =>
        (await import('./servers/server-commands.js')).addServerCommands(servers, terminal),
    },
    {
      name: 'apps',
      description: 'check the credentials of apps, and show apps whose deliveries are paused',
      add: async (apps) => {
        (await import('./deliveries/breakers/app-commands.js')).addAppCommands(apps, terminal);
        (await import('./deliveries/apps/check-command.js')).addAppCheckCommand(apps, terminal);
        (await import('./keyring/commands/vapid-commands.js')).addVapidCommands(apps, terminal);
      },
    },
    {
      name: 'keys',
      description: 'the keys that registrations are sealed to, and their rotation',
      add: async (keys) =>
        (await import('./keyring/commands/key-ring-commands.js')).addKeyCommands(keys, terminal),
    },
    ...administrationGroups(terminal, administered(terminal)),
  ];
}

async function startChecks({ environment, clock }: Terminal): Promise<StartCheck[]> {
  const { readRelayEnvironment } = await import('./configuration.js');
  const { relayStartChecks } = await import('./start-checks.js');
  return relayStartChecks(readRelayEnvironment(environment), clock);
}

async function serve(terminal: Terminal): Promise<void> {
  const { readRelayEnvironment } = await import('./configuration.js');
  const { runProcess } = await import('@waxwing/service/lifecycle');
  const { createLogger } = await import('@waxwing/service/logging');
  const { startRelay } = await import('./start-relay.js');
  const configuration = readRelayEnvironment(terminal.environment);
  const log = createLogger(name, configuration.logLevel);
  const start = () => startRelay(configuration, { log });
  const { drainMilliseconds } = configuration;
  const reload = (relay: Awaited<ReturnType<typeof start>>) => relay.reloadCredentials();
  const { environment } = terminal;
  await runProcess({ name, log, environment, drainMilliseconds, start, reload });
}

function administered(terminal: Terminal): AdministeredDatabase {
  return {
    databaseUrl: async () => {
      const { readDatabaseEnvironment } = await import('./configuration.js');
      return readDatabaseEnvironment(terminal.environment).reveal();
    },
    isDatabaseChosen: () => Boolean(terminal.environment.RELAY_DATABASE),
    remedyIfMissing,
    recordJobAct: async (transaction, action, subject) => {
      const { recordAct } = await import('./acts/record-act.js');
      await recordAct(transaction, { actor: 'command line', action, subject, at: terminal.clock() });
    },
    migrations: async () => (await import('./tables.js')).relayMigrations,
    jobKinds: async () => (await import('./job-kinds.js')).relayJobKinds,
    shownPayloadFields: [
      'serverId',
      'realmId',
      'realmUuid',
      'relayDeviceId',
      'notificationId',
      'vendor',
      'priority',
      'pushType',
      'receivedAt',
      'timeToLiveSeconds',
    ],
  };
}
