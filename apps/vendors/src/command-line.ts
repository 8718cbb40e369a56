import {
  addCompletion,
  packageVersion,
  printUsageErrors,
  refuseSecrets,
} from '@waxwing/service/command-line';
import { fileTrouble } from '@waxwing/service/config';
import { describeListenTrouble } from '@waxwing/service/lifecycle';
import { Command, InvalidArgumentError } from 'commander';
import type { Vendors } from './start-vendors.js';

export interface CommandLineFlags {
  readonly dataDir: string;
  readonly host: string;
  readonly portBase: number;
  readonly json: boolean;
}

const highestPort = 65_535;
const listenerCount = 4;

/**
 * Parses the flags of `waxwing-vendors`. Prints help or usage errors and exits, like other command-line programs.
 * @throws CommandError if an argument looks like a secret.
 */
export function readFlags(argv: readonly string[]): CommandLineFlags {
  const command = new Command('waxwing-vendors')
    .description(
      'Stand-ins for FCM, APNs and a push service: the real protocols on this machine, without any account',
    )
    .version(
      packageVersion(new URL('../package.json', import.meta.url)),
      '-V, --version',
      'print the version',
    )
    .option('--data-dir <dir>', 'folder of the credentials', '.waxwing/vendors')
    .option('--host <address>', 'address to bind to', '127.0.0.1')
    .option(
      '--port-base <port>',
      'port for HTTP; APNs production, APNs sandbox and Web Push use the next three; 0 picks free ports',
      readPortBase,
      8330,
    )
    .option('--json', 'print one line of JSON: the URLs and the credential files', false)
    .allowExcessArguments(false)
    .hook('preAction', (_, typed) => refuseSecrets(typed))
    // Commander requires an action because of the `completion` subcommand. It is empty, because only the flags matter.
    .action(() => {});
  addCompletion(command, (script) => {
    process.stdout.write(`${script}\n`);
    process.exit();
  });
  printUsageErrors(command, argv);
  return command.parse(argv, { from: 'user' }).opts<CommandLineFlags>();
}

/**
 * Starts the stand-ins with these flags.
 * @throws Error whose message tells the user in one sentence what to fix, for example if a port is in use.
 */
export async function startFromFlags(flags: CommandLineFlags): Promise<Vendors> {
  const { dataDir, host, portBase } = flags;
  const ports =
    portBase === 0
      ? {}
      : {
          httpPort: portBase,
          apnsProductionPort: portBase + 1,
          apnsSandboxPort: portBase + 2,
          webPushPort: portBase + 3,
        };
  const log = (message: string) => {
    process.stderr.write(`${message}\n`);
  };
  // Lazy import, so that `--help` stays fast.
  const { startVendors } = await import('./start-vendors.js');
  try {
    return await startVendors({ dataDir, host, log, ...ports });
  } catch (error) {
    const { code, path, port } = error as NodeJS.ErrnoException & { port?: number };
    if (code === 'EEXIST' || code === 'ENOTDIR') {
      throw new Error(`${dataDir} is a file, or its path contains a file: set a folder with --data-dir`, {
        cause: error,
      });
    }
    if (code === 'EADDRINUSE') {
      throw new Error(`port ${port} on ${host} is in use: choose other ports with --port-base`, {
        cause: error,
      });
    }
    if (path !== undefined) {
      throw new Error(`${path} cannot be used: ${fileTrouble(error)}; set another folder with --data-dir`, {
        cause: error,
      });
    }
    const trouble = describeListenTrouble(error);
    throw trouble === undefined ? error : new Error(trouble, { cause: error });
  }
}

/** Formats the startup message as text, or as one line of JSON with `--json`. */
export function describeVendors({ urls, credentials }: Vendors, { json }: CommandLineFlags): string {
  return json ? `${JSON.stringify({ urls, credentials })}\n` : formatForPeople({ urls, credentials });
}

function formatForPeople({ urls, credentials }: Pick<Vendors, 'urls' | 'credentials'>): string {
  return `The stand-ins for FCM, APNs and a push service are ready.

Give these to the program that sends your notifications:

  FCM
    base URL (for https://fcm.googleapis.com)         ${urls.fcm}
    service account file                              ${credentials.serviceAccountFile}
    project                                           ${credentials.fcmProjectId}

  APNs
    production (for https://api.push.apple.com)       ${urls.apnsProduction}
    sandbox (for https://api.sandbox.push.apple.com)  ${urls.apnsSandbox}
    key file (.p8)                                    ${credentials.apnsKeyFile}
    key id                                            ${credentials.apnsKeyId}
    team id                                           ${credentials.apnsTeamId}
    CA certificate to trust                           ${credentials.caFile}

  Web Push
    endpoint of a subscription, with any last part    ${urls.webPush}/push/phone-1
    CA certificate to trust                           ${credentials.caFile}

See what arrived:  curl '${urls.http}/deliveries'
Script faults:     curl -X PUT '${urls.http}/faults' -d '{"rules":[{"vendor":"fcm","status":503,"rate":0.5}]}'
Stop with Ctrl-C.
`;
}

function readPortBase(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > highestPort - listenerCount + 1) {
    throw new InvalidArgumentError(`It must be a port from 0 to ${highestPort - listenerCount + 1}.`);
  }
  return port;
}
