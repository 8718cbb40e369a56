import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { styleText } from 'node:util';
import type { Environment } from '../config/environment-reader.js';
import { Secret } from '../config/secret.js';
import { type Clock, systemClock } from '../lifecycle/clock.js';
import { CommandError } from './command-error.js';
import { createProgress, type Progress } from './progress.js';

/** The environment, input and output of a command. */
export interface Terminal {
  readonly environment: Environment;
  /**
   * Sets variables of this process, for libraries that read the process's environment. Absent if `environment` is not
   * the environment of this process.
   */
  readonly setVariables?: ((variables: Environment) => void) | undefined;
  readonly clock: Clock;
  /** Width in characters; `undefined` if standard output is not a terminal. */
  readonly columns?: number | undefined;
  /** Whether to color the result. */
  readonly isColoured?: boolean;
  /** Shows that a command is still running. Absent if there is no terminal. */
  readonly progress?: Progress;
  /** Prints the command's result to standard output. Prints nothing else there. */
  print(text: string): void;
  /** Prints a message to standard error. */
  say(text: string): void;
  /** Notes the location of a database that a command has changed. The location is printed after the result. */
  readonly noteChange?: ((location: string) => void) | undefined;
  /** Asks a yes/no question. Resolves to `undefined` without a terminal. */
  ask(question: string): Promise<boolean | undefined>;
  /**
   * Prints `prompt` and reads a line without echo. If input is piped, reads its first line instead. The result is empty
   * if there is no input.
   */
  readSecret(prompt: string): Promise<Secret<string>>;
}

/** Returns the terminal of this process. `environment` must be the original object, because `setVariables` changes it. */
export function processTerminal(environment: NodeJS.ProcessEnv): Terminal {
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  const progress = createProgress(process.stderr.isTTY ? say : () => undefined);
  return {
    environment,
    setVariables: (variables) => void Object.assign(environment, variables),
    clock: systemClock,
    columns: process.stdout.isTTY ? process.stdout.columns : undefined,
    // `styleText` follows Node's color rules, which depend on NO_COLOR, FORCE_COLOR and whether the stream is a terminal.
    isColoured: styleText('red', 'x', { stream: process.stdout }) !== 'x',
    print: (text) => void process.stdout.write(`${text}\n`),
    say,
    progress,
    async ask(question) {
      if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      try {
        const answer = await progress.asking(lines.question(`${question} [y/N] `));
        return /^y(es)?$/i.test(answer.trim());
      } finally {
        lines.close();
      }
    },
    readSecret: (prompt) => progress.asking(readSecret(prompt)),
  };
}

async function readSecret(prompt: string): Promise<Secret<string>> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) {
    for await (const line of createInterface({ input: stdin })) return new Secret(line);
    return new Secret('');
  }
  stderr.write(prompt);
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: unseen, terminal: true });
  try {
    return new Secret(await lines.question(''));
  } finally {
    lines.close();
    stderr.write('\n');
  }
}

/**
 * Asks for confirmation of an irreversible action, unless `yes` (the option `--yes`) is set.
 * @throws CommandError if the answer is no, or if there is no terminal
 */
export async function requireConsent(terminal: Terminal, question: string, yes = false): Promise<void> {
  if (yes) return;
  const answer = await terminal.ask(question);
  if (answer === undefined) {
    throw new CommandError(
      `This needs confirmation, but there is no terminal: add --yes to confirm. (${question})`,
    );
  }
  if (!answer) throw new CommandError('Nothing was changed.');
}
