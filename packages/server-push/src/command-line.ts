import { type AdministeredDatabase, administrationGroups } from '@waxwing/administration/groups';
import { CommandError, packageVersion, runProgram, type Terminal } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { addPushCommands } from './commands/push-commands.js';
import { mountedProgram, remedyIfMissing } from './mounting/mounted-program.js';

/** Settings section of the help text, wrapped to its width. */
const settingsHelp = `
Settings, from the environment or --env-file, the same as the server's:
  SERVER_PUSH_DATABASE      push database: sqlite:<file> or postgres://...
  SERVER_PUSH_KEY_FILE      file of the key that encrypts the credentials;
                            enable creates it (default: waxwing-server-push.key
                            beside the file of a SQLite database)
  SERVER_PUSH_REALM_UUID    UUID of the organization, chosen once
  SERVER_PUSH_REALM_URL     URL that phones use to reach the server
  SERVER_PUSH_REALM_NAME    name that notifications show
  SERVER_PUSH_RELAY_PROXY, SERVER_PUSH_RELAY_CA_FILE
                            HTTP proxy and additional CA certificates for the relay
  SERVER_PUSH_RELAY_PLAIN_HTTP
                            on allows http:// to a relay on another machine
  SERVER_PUSH_RELAY_URL, SERVER_PUSH_RELAY_SERVER_ID,
  SERVER_PUSH_RELAY_SERVER_KEY_FILE
                            a relay to use without enable; takes precedence`;

/**
 * Runs one administration command for a mounted push, whether or not the host's process is running. Returns the exit
 * status: 0 on success, 1 on failure, 2 for a usage error.
 */
export function runPushCommand(argv: readonly string[], terminal: Terminal): Promise<number> {
  return runProgram(
    {
      name: 'waxwing-server-push',
      description: 'Administers encrypted push in your own server',
      version: () => packageVersion(new URL('../package.json', import.meta.url)),
      addCommands,
      groups: (own) => administrationGroups(own, administered(own)),
      settings: { prefix: 'SERVER_PUSH_', defaultFile: '/etc/waxwing/server-push.env' },
    },
    argv,
    terminal,
  );
}

function addCommands(program: Command, terminal: Terminal): void {
  addPushCommands(program, mountedProgram(terminal));
  program.addHelpText('after', settingsHelp);
}

function administered({ environment }: Terminal): AdministeredDatabase {
  return {
    async databaseUrl() {
      const { SERVER_PUSH_DATABASE: url = '' } = environment;
      if (url !== '') return url;
      throw new CommandError(
        'Set SERVER_PUSH_DATABASE to the push database, as for the server: sqlite:<file> or postgres://….',
      );
    },
    isDatabaseChosen: () => Boolean(environment.SERVER_PUSH_DATABASE),
    remedyIfMissing,
    migrations: async () => [(await import('./tables.js')).serverPushMigrations],
    jobKinds: async () => (await import('./push-job-kinds.js')).allPushJobKinds,
    shownPayloadFields: ['userId', 'type', 'push_device_id', 'generation', 'relayDeviceId'],
  };
}
