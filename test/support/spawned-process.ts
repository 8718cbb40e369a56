import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { answersHeld } from './program-answers.js';
import { hasEnded, untilReady } from './until-ready.js';

const root = join(import.meta.dirname, '../..');

/** This repository's commands as `npx` would run them, using the built programs. */
const commands = {
  'waxwing-relay': 'apps/relay/bin/waxwing-relay.js',
  'waxwing-server': 'apps/server/bin/waxwing-server.js',
  'waxwing-vendors': 'apps/vendors/bin/waxwing-vendors.js',
  'waxwing-quickstart': 'apps/quickstart/bin/waxwing-quickstart.js',
} as const;
export type CommandName = keyof typeof commands;

export interface SpawnOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** File descriptor that receives all output. By default, the output is collected in `output`. */
  readonly outputFile?: number;
}

/**
 * A real process that runs one of this repository's commands. Inherits only PATH and HOME from the environment. The
 * test fails if any of the process's responses violates its operation's declaration.
 */
export class SpawnedProcess {
  readonly child: ChildProcess;
  #output = '';

  constructor(command: CommandName, args: readonly string[], options: SpawnOptions = {}) {
    const { PATH = '', HOME = '' } = process.env;
    const output = options.outputFile ?? 'pipe';
    this.child = spawn(process.execPath, [join(root, commands[command]), ...args], {
      cwd: options.cwd ?? root,
      env: { PATH, HOME, ...answersHeld, ...options.env },
      stdio: ['ignore', output, output],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString('utf8');
      });
    }
  }

  /** Combined output of stdout and stderr so far. */
  get output(): string {
    return this.#output;
  }

  get hasExited(): boolean {
    return hasEnded(this.child);
  }

  /** Resolves when `url` responds with 200. @throws Error with the output if the process ends first. */
  async readyAt(url: string): Promise<this> {
    await untilReady(url, this.child, () => this.#output);
    return this;
  }

  /**
   * Sends the signal, and waits until the process has exited and all output has arrived. Returns the exit status, or
   * `null` if a signal ended the process.
   */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (!this.hasExited) {
      const closed = once(this.child, 'close');
      this.child.kill(signal);
      await closed;
    }
    return this.child.exitCode;
  }
}

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one of this repository's commands to completion, without a terminal. */
export async function runCommand(
  command: CommandName,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<CommandResult> {
  const { child } = new SpawnedProcess(command, args, options);
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  await once(child, 'close');
  return { status: child.exitCode, stdout, stderr };
}

/**
 * Runs a command with `--json` and returns its parsed result. @throws Error with the command's error output if it
 * fails.
 */
export async function runJsonCommand<T>(
  command: CommandName,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<T> {
  const { status, stdout, stderr } = await runCommand(command, [...args, '--json'], options);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} exited with status ${status}: ${stderr}`);
  return JSON.parse(stdout) as T;
}
