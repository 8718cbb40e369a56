import { type BenchResult, medianRates, type Rates } from './bench-result.js';
import { withBenchTarget } from './bench-target.js';
import { HttpLoad } from './http-load.js';

const rounds = 9;
const roundMilliseconds = 1000;
/** Number of warm-up reads. While V8 is still compiling, a read takes twice as long. */
const warmingReadings = 3000;

/** The ready message of the measured process. */
export interface ReadTarget {
  readonly port: number;
  /** Number of concurrent reads. */
  readonly atOnce: number;
  readonly request: string;
}

/**
 * `chat-read`: reads per second of a channel's newest 100 rendered messages over HTTP, compared with a bare query for
 * the same rows and their JSON. Both run in a separate process, because receiving such large responses also costs the
 * client CPU time.
 */
export async function run(): Promise<BenchResult[]> {
  const program = new URL('./chat-read-target.ts', import.meta.url);
  const rates = await withBenchTarget<ReadTarget, Rates>(program, [], async (target, ask) => {
    const request = Buffer.from(target.request);
    const load = await HttpLoad.open({
      port: target.port,
      connections: target.atOnce,
      nextRequest: () => request,
      expected: '"found_newest":true',
    });
    const bare = () => ask<number>(roundMilliseconds);
    await load.repeat(warmingReadings);
    const rates = await medianRates(rounds, () => load.run(roundMilliseconds), bare);
    load.close();
    return rates;
  });
  return [{ name: 'chat-read', unit: 'readings/s', ...rates, goal: 0.5, better: 'higher' }];
}
