import { resolve } from 'node:path';
import { packageVersion, printUsageErrors, refuseSecrets } from '@waxwing/service/command-line';
import { Command, InvalidArgumentError, Option } from 'commander';

export interface QuickstartOptions {
  /** Absolute path. */
  readonly dataDir: string;
  readonly ports: QuickstartPorts;
  /** Whether the server is connected to the relay. */
  readonly withRelay: boolean;
  /** Whether to stop after the journey. */
  readonly once: boolean;
}

/** Loopback ports, all derived from `--port-base`. */
export interface QuickstartPorts {
  readonly server: number;
  readonly page: number;
  readonly relay: number;
  readonly vendorsHttp: number;
  readonly apnsProduction: number;
  readonly apnsSandbox: number;
  readonly webPush: number;
}

const highestPortBase = 65_535 - 23;

/** Reads the command line. Prints usage and exits if it is invalid, asks for help, or contains a secret by mistake. */
export function readQuickstartOptions(argv: readonly string[]): QuickstartOptions {
  const program = new Command('npm start --')
    .description(
      'Runs a relay, a server and the vendors’ stand-ins on this machine, and shows one notification’s journey.',
    )
    .version(
      packageVersion(new URL('../package.json', import.meta.url)),
      '-V, --version',
      'print the version',
    )
    .option('--data-dir <dir>', 'folder for all data', '.waxwing')
    .addOption(
      new Option('--port-base <n>', 'server on n, page on n+1, relay on n+10, vendors on n+20 to n+23')
        .default(8310)
        .argParser(parsePortBase),
    )
    .option('--without-relay', 'leave the server without a relay, to see PUSH_SERVICE_NOT_CONFIGURED')
    .option('--once', 'stop after the journey: exit status 0 if it passed, 1 if not');
  printUsageErrors(program, argv);
  program.parse(argv);
  try {
    refuseSecrets(program);
  } catch (error) {
    program.error((error as Error).message);
  }
  const options = program.opts<{ dataDir: string; portBase: number; withoutRelay?: true; once?: true }>();
  return {
    dataDir: resolve(options.dataDir),
    ports: portsFrom(options.portBase),
    withRelay: options.withoutRelay !== true,
    once: options.once === true,
  };
}

function portsFrom(base: number): QuickstartPorts {
  return {
    server: base,
    page: base + 1,
    relay: base + 10,
    vendorsHttp: base + 20,
    apnsProduction: base + 21,
    apnsSandbox: base + 22,
    webPush: base + 23,
  };
}

function parsePortBase(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1024 || port > highestPortBase) {
    throw new InvalidArgumentError(`It must be a whole number from 1024 to ${highestPortBase}.`);
  }
  return port;
}
