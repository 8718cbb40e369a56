import type { SpawnedProcess } from '../../support/spawned-process.js';
import { pause } from './pause.js';

export interface LivesOptions {
  readonly rounds: number;
  readonly random: () => number;
  start(): SpawnedProcess;
  readonly readyUrl: string;
  /** Called after each death, with how many there were. */
  died(deaths: number): Promise<void>;
}

const longestLifeMilliseconds = 1200;
/** One in so many is killed while it starts. */
const killedWhileStarting = 0.15;
const shortestStartMilliseconds = 100;

/**
 * Starts a process and kills it at a random moment, as often as asked; it is started again each time, and the last one
 * stays.
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
    if (process.hasExited) throw new Error(`the process ended by itself:\n${process.output}`);
    await process.end('SIGKILL');
    await options.died(deaths + 1);
  }
  return options.start().readyAt(readyUrl);
}
