import { type AdministeredDatabase, administrationGroups } from '@waxwing/administration/groups';
import { type CommandGroup, packageVersion, runProgram, type Terminal } from '@waxwing/service/command-line';
import type { StartCheck } from '@waxwing/service/config';
import { remedyIfMissing } from './with-database.js';

const name = 'waxwing-server';

/** Runs one command. Returns the exit status: 0 on success, 1 on failure, 2 for a usage error. */
export function runServerCommand(argv: readonly string[], terminal: Terminal): Promise<number> {
  return runProgram(
    {
      name,
      description: "Serves an organization's chat API, and sends encrypted push notifications",
      version: () => packageVersion(new URL('../package.json', import.meta.url)),
      serve: {
        description:
          'run the server; it is configured by SERVER_ variables and logs JSON lines to standard output',
        run: serve,
        checks: startChecks,
      },
      groups: commandGroups,
      settings: { prefix: 'SERVER_', defaultFile: '/etc/waxwing/server.env' },
    },
    argv,
    terminal,
  );
}

function commandGroups(terminal: Terminal): readonly CommandGroup[] {
  return [
    {
      name: 'users',
      description: 'provision users, bots and API keys',
      add: async (users) =>
        (await import('./membership/user-administration/users-commands.js')).addUsersCommands(
          users,
          terminal,
        ),
    },
    {
      name: 'realm',
      description: 'manage the organization',
      add: async (realm) =>
        (await import('./people/realm/realm-commands.js')).addRealmCommands(realm, terminal),
    },
    {
      name: 'push',
      description: 'send encrypted push notifications',
      add: async (push) => (await import('./push/push-commands.js')).addServerPushCommands(push, terminal),
    },
    ...administrationGroups(terminal, administered(terminal)),
  ];
}

async function startChecks({ environment, clock }: Terminal): Promise<StartCheck[]> {
  const { readServerEnvironment } = await import('./configuration.js');
  const { serverStartChecks } = await import('./start-checks.js');
  return serverStartChecks(readServerEnvironment(environment), clock);
}

async function serve({ environment }: Terminal): Promise<void> {
  const { readServerEnvironment } = await import('./configuration.js');
  const { runProcess } = await import('@waxwing/service/lifecycle');
  const { createLogger } = await import('@waxwing/service/logging');
  const { startServer } = await import('./start-server.js');
  const configuration = readServerEnvironment(environment);
  const log = createLogger(name, configuration.logLevel);
  const start = () => startServer(configuration, { log });
  const { drainMilliseconds } = configuration;
  const reload = (server: Awaited<ReturnType<typeof start>>) => server.reloadCredentials();
  await runProcess({ name, log, environment, drainMilliseconds, start, reload });
}

function administered(terminal: Terminal): AdministeredDatabase {
  return {
    databaseUrl: async () => {
      const { readServerEnvironment } = await import('./configuration.js');
      return readServerEnvironment(terminal.environment).databaseUrl.reveal();
    },
    isDatabaseChosen: () => Boolean(terminal.environment.SERVER_DATABASE),
    remedyIfMissing,
    migrations: async () => (await import('./tables.js')).serverMigrations,
    jobKinds: async () => (await import('./job-kinds.js')).serverJobKinds,
    shownPayloadFields: ['userId', 'type', 'push_device_id', 'generation', 'relayDeviceId'],
  };
}
