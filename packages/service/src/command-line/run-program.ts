import { Command, CommanderError } from 'commander';
import { describeBootError } from '../lifecycle/run-process.js';
import { CommandError } from './command-error.js';
import { addCompletion, completionName } from './completion.js';
import type { Terminal } from './terminal.js';
import { sayUsageErrors } from './usage-errors.js';

/** A command that has commands of its own, such as `keys`. */
export interface CommandGroup {
  readonly name: string;
  readonly description: string;
  /** Adds the commands. Called only when the arguments name the group: no other command waits for what this one loads. */
  add(group: Command): Promise<void>;
}

/** What can be typed: `serve`, and the commands of the groups. */
export interface Program {
  readonly name: string;
  readonly description: string;
  /** What --version prints, read when it is asked for. */
  version(): string;
  /** `run` answers when it serves. */
  readonly serve: { readonly description: string; run(): Promise<void> };
  readonly groups: readonly CommandGroup[];
}

const usageErrorStatus = 2;

/** Carries out one command. The answer is the exit status: 0, 1 when it failed, 2 when it was not understood. */
export async function runProgram(
  program: Program,
  argv: readonly string[],
  terminal: Terminal,
): Promise<number> {
  try {
    const command = await commandOf(program, argv, terminal);
    await command.parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has said already what is wrong with the arguments, or shown the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageErrorStatus;
    const message = error instanceof CommandError ? error.message : describeBootError(error);
    terminal.say(`${program.name}: ${message}`);
    return 1;
  } finally {
    terminal.progress?.end();
  }
}

async function commandOf(program: Program, argv: readonly string[], terminal: Terminal): Promise<Command> {
  const { name, description, serve, groups } = program;
  const command = new Command(name)
    .description(description)
    .option('-V, --version', 'print the version')
    .on('option:version', () => {
      terminal.print(program.version());
      throw new CommanderError(0, 'commander.version', '');
    })
    // In a narrow terminal too: what is not wrapped here is broken in the middle of words.
    .configureHelp({ minWidthToWrap: 16 })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.say(text.trimEnd()),
    });
  command
    .command('serve')
    .description(serve.description)
    .allowExcessArguments(false)
    .action(() => {
      terminal.progress?.begin(`${name} serve`, 'starting');
      return serve.run();
    });
  for (const group of groups) {
    const added = command.command(group.name).description(group.description);
    added.hook('preAction', (_, typed) => terminal.progress?.begin(`${name} ${group.name} ${typed.name()}`));
    if (argv.includes(group.name) || argv[0] === completionName) await group.add(added);
  }
  addCompletion(command, terminal.print);
  sayUsageErrors(command);
  return command;
}
