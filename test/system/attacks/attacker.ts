import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { build, type Rollup } from 'vite';
import type { Attack, AttackReport } from './attack.js';

const program = fileURLToPath(new URL('attack-program.ts', import.meta.url));
let bundled: Promise<string> | undefined;
const none: AttackReport = { isInForce: false, isOver: false, open: 0, done: 0, answers: {} };

/** Longer than any request can take, so that every attack ends even if the target stops responding. */
const patienceMilliseconds = 180_000;

/** A running attacker process. */
export class Attacker {
  readonly #child: ChildProcess;
  #report = none;

  static async start(attack: Attack): Promise<Attacker> {
    bundled ??= bundle();
    return new Attacker(attack, await bundled);
  }

  private constructor(attack: Attack, code: string) {
    this.#child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.send(attack);
    this.#child.on('message', (report) => {
      this.#report = report as AttackReport;
    });
  }

  get report(): AttackReport {
    return this.#report;
  }

  /** Resolves when the attack is at full strength. @throws Error if the process ends first or makes no progress. */
  inForce(): Promise<void> {
    return this.#until(({ isInForce }) => isInForce);
  }

  /**
   * Resolves when an attack with a limited number of requests has sent all of them. @throws Error if the process ends
   * first or makes no progress.
   */
  over(): Promise<void> {
    return this.#until(({ isOver }) => isOver);
  }

  /**
   * Resolves once the attack has made this many connections or requests. @throws Error if the process ends first or
   * makes no progress.
   */
  made(count: number): Promise<void> {
    return this.#until(({ done }) => done >= count);
  }

  /** Ends the process, which closes its connections. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  #until(holds: (report: AttackReport) => boolean): Promise<void> {
    const child = this.#child;
    return new Promise((resolve, reject) => {
      let done = -1;
      let stalledAt = 0;
      const end = (error?: Error): void => {
        child.off('message', look).off('exit', fail);
        if (error === undefined) resolve();
        else reject(error);
      };
      const look = (): void => {
        if (holds(this.#report)) end();
        else if (this.#report.done !== done) [done, stalledAt] = [this.#report.done, performance.now()];
        else if (performance.now() - stalledAt >= patienceMilliseconds)
          end(
            new Error(
              `the attackers have made no progress for minutes, after ${done} connections or requests`,
            ),
          );
      };
      const fail = (status: number | null): void =>
        end(new Error(`the attackers exited too early, with status ${status}`));
      child.on('message', look).once('exit', fail);
      look();
    });
  }
}

/**
 * Bundles the attacker program as JavaScript. Compiling takes ten times as long as starting, and many attackers run.
 */
async function bundle(): Promise<string> {
  const { output } = (await build({
    configFile: false,
    logLevel: 'error',
    build: { ssr: program, write: false },
  })) as Rollup.RollupOutput;
  return output[0].code;
}
