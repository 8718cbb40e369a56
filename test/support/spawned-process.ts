import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { answersHeld } from './program-answers.js';
import { hasEnded, untilReady } from './until-ready.js';

const root = join(import.meta.dirname, '../..');

/** The commands, as `npx` finds them in the checkout; they run what was built. */
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
  /** The descriptor of an open file that gets all that it prints; without it, `output` does. */
  readonly outputFile?: number;
}

/**
 * A real process of one of our commands. Nothing of the caller's environment reaches it but PATH and HOME. The test fails
 * when one of its answers is not as its operation declares.
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

  /** Everything that it printed so far, on both streams. */
  get output(): string {
    return this.#output;
  }

  get hasExited(): boolean {
    return hasEnded(this.child);
  }

  /** Resolves when `url` answers 200. @throws when the process ends first, with what it printed. */
  async readyAt(url: string): Promise<this> {
    await untilReady(url, this.child, () => this.#output);
    return this;
  }

  /**
   * Sends the signal and waits for the end, and for all that it printed; the exit status, or `null` when a signal ended
   * it.
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

/** Runs one of our commands to its end, without a terminal. */
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

/** Runs a command with `--json` and gives its answer. @throws with its messages when it fails. */
export async function runJsonCommand<T>(
  command: CommandName,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<T> {
  const { status, stdout, stderr } = await runCommand(command, [...args, '--json'], options);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as T;
}
