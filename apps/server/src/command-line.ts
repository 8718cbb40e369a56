import { type AdministrationOptions, addDatabaseCommands, addQueueCommands } from '@waxwing/administration';
import { openDatabaseWithJobs } from '@waxwing/jobs';
import {
  CommandError,
  createLogger,
  describeBootError,
  type Environment,
  requireConsent,
  runProcess,
  systemClock,
  type Terminal,
} from '@waxwing/service';
import { Command, CommanderError } from 'commander';
import { addPushCommands } from './push/push-commands.js';
import { addRealmCommands } from './realm/realm-commands.js';
import { readServerEnvironment, type ServerConfiguration } from './server-configuration.js';
import { type ServerDatabase, type ServerTables, serverMigrations } from './server-tables.js';
import { startServer } from './start-server.js';
import { addUsersCommands } from './user-administration/users-commands.js';

const usageErrorStatus = 2;

/** What a command may use. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** Runs `use` on the database, beside a serving process if there is one. */
  withDatabase<T>(
    use: (database: ServerDatabase, configuration: ServerConfiguration) => Promise<T>,
  ): Promise<T>;
}

/** Runs one command of `waxwing-server`. The answer is the exit status: 0, 1 when it failed, 2 when it was not understood. */
export async function runCommandLine(argv: readonly string[], terminal: Terminal): Promise<number> {
  const { environment } = terminal;
  const program = new Command('waxwing-server')
    .description(
      "An organisation's chat API with encrypted push. Settings are SERVER_* environment variables.",
    )
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.say(text.trimEnd()),
    })
    .exitOverride();
  program
    .command('serve')
    .description('answer requests until SIGTERM or SIGINT')
    .action(() => serve(environment));
  const context: CommandContext = {
    terminal,
    withDatabase: (use) => withDatabase(terminal, use),
  };
  addUsersCommands(program, context);
  addRealmCommands(program, context);
  addPushCommands(program, context);
  addDatabaseCommands(program, administration(terminal));
  addQueueCommands(program, administration(terminal));
  try {
    await program.parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has said already what is wrong with the arguments, or shown the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageErrorStatus;
    const message = error instanceof CommandError ? error.message : describeBootError(error);
    terminal.say(`waxwing-server: ${message}`);
    return 1;
  }
}

function administration(terminal: Terminal): AdministrationOptions {
  return {
    databaseUrl: () => readServerEnvironment(terminal.environment).databaseUrl,
    migrations: serverMigrations,
    clock: terminal.clock,
    print: (text) => terminal.print(text),
    say: (text) => terminal.say(text),
    requireConsent: (question, yes) => requireConsent(terminal, question, yes),
    refusal: (sentence) => new CommandError(sentence),
    shownPayloadFields: ['userId', 'type', 'push_device_id', 'generation', 'relayDeviceId'],
  };
}

async function serve(environment: Environment): Promise<void> {
  const configuration = readServerEnvironment(environment);
  const log = createLogger('waxwing-server', configuration.logLevel);
  await runProcess({
    name: 'waxwing-server',
    log,
    start: () => startServer({ configuration, log, clock: systemClock, random: Math.random }),
  });
}

async function withDatabase<T>(
  terminal: Terminal,
  use: (database: ServerDatabase, configuration: ServerConfiguration) => Promise<T>,
): Promise<T> {
  const configuration = readServerEnvironment(terminal.environment);
  const database = await openDatabaseWithJobs<ServerTables>({
    url: configuration.databaseUrl,
    migrations: serverMigrations,
    role: 'visiting',
    now: systemClock,
    // A visiting process works no jobs; what goes wrong in the background, after the commit, fails no command.
    onJobError: (error) => terminal.say(String(error)),
  });
  try {
    return await use(database, configuration);
  } finally {
    await database.close();
  }
}
