import type { Command } from 'commander';
import { ConfigurationError } from '../config/configuration-error.js';
import { readEnvironmentFile } from '../config/environment-file.js';
import { fileTrouble } from '../config/file-trouble.js';
import type { ParsedEnvironment } from '../config/parse-environment.js';
import { completionName } from './completion.js';
import { refuseSecrets } from './refuse-secrets.js';
import type { Terminal } from './terminal.js';

/** Prefix of a program's settings, and the file to read them from if the environment has none. */
export interface ProgramSettings {
  /** Prefix of the setting names, such as `RELAY_`. */
  readonly prefix: string;
  /** Settings file that is read if it exists and the environment contains none of the program's settings. */
  readonly defaultFile: string;
}

/** A parsed environment file with its path. */
interface SettingsFile extends ParsedEnvironment {
  readonly path: string;
}

/** Variables that the PostgreSQL driver reads from the process environment, such as PGPASSWORD and PGPASSFILE. */
const driverVariable = /^PG[A-Z]+$/;

/** The terminal of one command, which can read settings from an environment file. */
export interface CommandTerminal extends Terminal {
  /** Reads the environment file before the command runs. Environment variables take precedence over the file. */
  begin(command: Command, settings: ProgramSettings): Promise<void>;
  /** Adds the file and line to problems with settings from the environment file. Returns other errors unchanged. */
  located(error: unknown): unknown;
  /** Prints which database the command has changed, unless the output is JSON. */
  printDatabase(): void;
}

/** Extends a program's terminal for the command being run. */
export function commandTerminal(terminal: Terminal): CommandTerminal {
  let environment = terminal.environment;
  let file: SettingsFile | undefined;
  let database: string | undefined;
  let isForMachines = false;
  return {
    ...terminal,
    get environment() {
      return environment;
    },
    noteChange(location) {
      database = location;
    },
    async begin(command, settings) {
      if (command.name() === completionName) return;
      refuseSecrets(command);
      const { json, envFile } = command.optsWithGlobals<{ json?: true; envFile?: string }>();
      isForMachines = json === true;
      file =
        envFile === undefined
          ? await readDefault(terminal, settings)
          : await readNamed(terminal, settings, envFile);
      const read = file?.values ?? {};
      const drivers = Object.entries(read).filter(
        ([name]) => driverVariable.test(name) && !(name in environment),
      );
      terminal.setVariables?.(Object.fromEntries(drivers));
      environment = { ...read, ...environment };
    },
    located(error) {
      if (!(error instanceof ConfigurationError) || file === undefined) return error;
      const { path, lines } = file;
      const problems = error.problems.map((problem) => {
        const [name = ''] = /^[A-Z_]+/.exec(problem) ?? [];
        const line = name in terminal.environment ? undefined : lines.get(name);
        return line === undefined ? problem : `${path}, line ${line}: ${problem}`;
      });
      return new ConfigurationError(problems, { cause: error });
    },
    printDatabase() {
      if (database !== undefined && !isForMachines) terminal.print(`Database: ${database}`);
    },
  };
}

/**
 * Reads the file given by `--env-file`.
 * @throws ConfigurationError if neither the file nor the environment contains any of the program's settings, because
 * the program would then use its default database.
 */
async function readNamed(
  { environment }: Terminal,
  { prefix }: ProgramSettings,
  path: string,
): Promise<SettingsFile> {
  const file = await readSettings(path);
  // `/dev/null` stands for an empty file, so it need not contain any of the program's settings.
  if (path === '/dev/null') return file;
  const names = Object.keys({ ...file.values, ...environment });
  if (names.some((name) => name.startsWith(prefix))) return file;
  throw new ConfigurationError([
    `The environment file ${path} has no setting that begins with ${prefix}: name the file of this program.`,
  ]);
}

async function readSettings(path: string): Promise<SettingsFile> {
  return { path, ...(await readEnvironmentFile(path)) };
}

async function readDefault(
  { environment, say }: Terminal,
  { prefix, defaultFile }: ProgramSettings,
): Promise<SettingsFile | undefined> {
  if (Object.keys(environment).some((name) => name.startsWith(prefix))) return undefined;
  try {
    return await readSettings(defaultFile);
  } catch (error) {
    const { cause } = error as { cause?: NodeJS.ErrnoException };
    if (cause?.code === undefined) throw error;
    if (cause.code !== 'ENOENT') say(`The settings in ${defaultFile} are not used: ${fileTrouble(cause)}.`);
    return undefined;
  }
}
