import { type AdministeredDatabase, administrationGroups } from '@waxwing/administration/groups';
import { CommandError, packageVersion, runProgram, type Terminal } from '@waxwing/service/command-line';

/**
 * Runs one command that looks after the database of a mounted push, beside the host's process or without it. Returns the
 * exit status: 0 on success, 1 on failure, 2 for a usage error.
 */
export function runPushCommand(argv: readonly string[], terminal: Terminal): Promise<number> {
  return runProgram(
    {
      name: 'waxwing-server-push',
      description: "Looks after the tables and jobs of encrypted push in a server of one's own",
      version: () => packageVersion(new URL('../package.json', import.meta.url)),
      groups: (own) => administrationGroups(own, administered(own)),
      settings: { prefix: 'SERVER_PUSH_', defaultFile: '/etc/waxwing/server-push.env' },
    },
    argv,
    terminal,
  );
}

function administered({ environment }: Terminal): AdministeredDatabase {
  return {
    async databaseUrl() {
      const { SERVER_PUSH_DATABASE: url = '' } = environment;
      if (url !== '') return url;
      throw new CommandError(
        'Set SERVER_PUSH_DATABASE to the database that the server gives to openPushDatabase: sqlite:<file> or postgres://….',
      );
    },
    isDatabaseChosen: () => Boolean(environment.SERVER_PUSH_DATABASE),
    remedyIfMissing:
      'name in SERVER_PUSH_DATABASE the one that the server gives to openPushDatabase, which creates the tables',
    migrations: async () => [(await import('./tables.js')).serverPushMigrations],
    shownPayloadFields: ['userId', 'type', 'push_device_id', 'generation', 'relayDeviceId'],
  };
}
