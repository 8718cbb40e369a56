import type { SpawnedProcess } from '../../support/spawned-process.js';
import { pause } from './pause.js';

export interface LivesOptions {
  readonly rounds: number;
  readonly random: () => number;
  start(): SpawnedProcess;
  readonly readyUrl: string;
  /** Called after each kill, with the number of kills so far. */
  died(deaths: number): Promise<void>;
}

const longestLifeMilliseconds = 1200;
/** Fraction of kills that occur during startup. */
const killedWhileStarting = 0.15;
const shortestStartMilliseconds = 100;

/**
 * Starts a process, then repeatedly kills it at a random moment and restarts it. Returns the last process, which keeps
 * running.
 */
export async function liveAndDie(options: LivesOptions): Promise<SpawnedProcess> {
  const { random, rounds, readyUrl } = options;
  let startMilliseconds = 1000;
  for (let deaths = 0; deaths < rounds; deaths++) {
    const process = options.start();
    if (deaths > 0 && random() < killedWhileStarting) {
      await pause(shortestStartMilliseconds + random() * startMilliseconds);
    } else {
      const startedAt = performance.now();
      await process.readyAt(readyUrl);
      startMilliseconds = performance.now() - startedAt;
      await pause(random() * longestLifeMilliseconds);
    }
    if (process.hasExited) throw new Error(`the process exited by itself:\n${process.output}`);
    await process.end('SIGKILL');
    await options.died(deaths + 1);
  }
  return options.start().readyAt(readyUrl);
}
