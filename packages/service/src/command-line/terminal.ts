import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { styleText } from 'node:util';
import type { Environment } from '../config/environment-reader.js';
import { Secret } from '../config/secret.js';
import { type Clock, systemClock } from '../lifecycle/clock.js';
import { CommandError } from './command-error.js';
import { createProgress, type Progress } from './progress.js';

/** Where a command is typed: what it may read, and where it answers. */
export interface Terminal {
  readonly environment: Environment;
  readonly clock: Clock;
  /** Characters that a line of the result has room for; `undefined` where nobody looks at it. */
  readonly columns?: number | undefined;
  /** Whether the result is shown in colours. */
  readonly isColoured?: boolean;
  /** Told which command is at work; absent where nobody looks. */
  readonly progress?: Progress;
  /** Prints the command's result, and nothing else, on standard output. */
  print(text: string): void;
  /** Says something beside the result, on standard error. */
  say(text: string): void;
  /** Whether the person answers yes; `undefined` when there is nobody to ask. */
  ask(question: string): Promise<boolean | undefined>;
  /** The line that a person types unseen after `prompt`, or the first of what is piped in; empty where there is none. */
  readSecret(prompt: string): Promise<Secret<string>>;
}

/** The terminal of this process. */
export function processTerminal(environment: Environment): Terminal {
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  const progress = createProgress(process.stderr.isTTY ? say : () => undefined);
  return {
    environment,
    clock: systemClock,
    columns: process.stdout.isTTY ? process.stdout.columns : undefined,
    // Node's own rules: the stream is a terminal, NO_COLOR, FORCE_COLOR.
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
 * Asks before something that cannot be undone; `yes` is the answer given in advance with --yes.
 * @throws CommandError when the answer is no, or when there is nobody to ask.
 */
export async function requireConsent(terminal: Terminal, question: string, yes = false): Promise<void> {
  if (yes) return;
  const answer = await terminal.ask(question);
  if (answer === undefined) {
    throw new CommandError(
      `This needs an answer and there is no terminal: add --yes if you mean it. (${question})`,
    );
  }
  if (!answer) throw new CommandError('Nothing was changed.');
}
