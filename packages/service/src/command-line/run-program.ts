import { Command, CommanderError } from 'commander';
import { hideSecrets } from '../config/misplaced-secret.js';
import type { StartCheck } from '../config/start-check.js';
import { describeBootError } from '../lifecycle/run-process.js';
import { checkStart } from './check-start.js';
import { CommandError } from './command-error.js';
import { type CommandTerminal, commandTerminal, type ProgramSettings } from './command-terminal.js';
import { addCompletion, completionName } from './completion.js';
import type { Terminal } from './terminal.js';
import { printUsageErrors } from './usage-errors.js';

/** A command with subcommands, such as `keys`. */
export interface CommandGroup {
  readonly name: string;
  readonly description: string;
  /**
   * Adds the subcommands. Called only if the arguments contain the group's name, so that other commands do not load its
   * code.
   */
  add(group: Command): Promise<void>;
}

/** A command-line program: command groups, and `serve` if the program is a service. */
export interface Program {
  readonly name: string;
  readonly description: string;
  /** Returns the output of `--version`. */
  version(): string;
  /** The command that starts the service. `run` resolves once the service is listening. */
  readonly serve?: {
    readonly description: string;
    run(terminal: Terminal): Promise<void>;
    /** Returns the checks that `serve --check` runs. @throws ConfigurationError that lists wrong settings. */
    checks(terminal: Terminal): Promise<readonly StartCheck[]>;
  };
  /**
   * Adds commands that do not belong to a group. Runs at every start, so load a command's code only when the command
   * runs.
   */
  addCommands?(program: Command, terminal: Terminal): void;
  groups(terminal: Terminal): readonly CommandGroup[];
  readonly settings: ProgramSettings;
}

const usageErrorStatus = 2;

/**
 * Runs one command. Command groups get a terminal whose environment includes the settings from the environment file.
 * Returns the exit status: 0 on success, 1 if the command failed, 2 for a usage error.
 */
export async function runProgram(
  program: Program,
  argv: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const own = commandTerminal(terminal);
  try {
    const command = await commandOf(program, argv, own);
    await command.parseAsync(argv, { from: 'user' });
    own.printDatabase();
    return 0;
  } catch (error) {
    // Commander has already printed the usage error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageErrorStatus;
    const message = error instanceof CommandError ? error.message : describeBootError(own.located(error));
    terminal.say(`${program.name}: ${hiding(program, argv, own)(message)}`);
    return 1;
  } finally {
    terminal.progress?.end();
  }
}

async function commandOf(
  program: Program,
  argv: readonly string[],
  terminal: CommandTerminal,
): Promise<Command> {
  const { name, description, serve, settings } = program;
  const command = new Command(name)
    .description(description)
    .option('-V, --version', 'print the version')
    .option(
      '--env-file <path>',
      `file with further settings (default: ${settings.defaultFile}, if none is set)`,
    )
    .hook('preAction', (_, typed) => terminal.begin(typed, settings))
    .on('option:version', () => {
      terminal.print(program.version());
      throw new CommanderError(0, 'commander.version', '');
    })
    // Also wraps the help in narrow terminals, where lines would otherwise break in the middle of words.
    .configureHelp({ minWidthToWrap: 16 })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.say(text.trimEnd()),
    });
  program.addCommands?.(command, terminal);
  for (const added of command.commands) {
    added.hook('preAction', () => terminal.progress?.begin(`${name} ${added.name()}`));
  }
  if (serve !== undefined) {
    command
      .command('serve')
      .description(serve.description)
      .option('--check', 'check the settings, their files and the database instead, and exit with 0 or 1')
      .allowExcessArguments(false)
      .action(async ({ check = false }: { readonly check?: boolean }) => {
        terminal.progress?.begin(`${name} serve`, check ? 'checking' : 'starting');
        if (check) await checkStart(await serve.checks(terminal), terminal, hiding(program, argv, terminal));
        else await serve.run(terminal);
      });
  }
  for (const group of program.groups(terminal)) {
    const added = command.command(group.name).description(group.description);
    added.hook('preAction', (_, typed) => terminal.progress?.begin(`${name} ${group.name} ${typed.name()}`));
    if (argv.includes(group.name) || argv[0] === completionName) await group.add(added);
  }
  addCompletion(command, terminal.print);
  printUsageErrors(command, argv);
  return command;
}

/** Returns a function that hides arguments and settings in a message if they may be misplaced secrets. */
function hiding({ settings }: Program, argv: readonly string[], terminal: Terminal) {
  return (message: string): string => {
    const given = Object.entries(terminal.environment).filter(([name]) => name.startsWith(settings.prefix));
    return hideSecrets(message, [...argv, ...given.map(([, value = '']) => value)]);
  };
}
