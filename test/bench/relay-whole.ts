import { openWholeRelay } from './bench-relay.js';
import { type BenchResult, medianRates } from './bench-result.js';
import { withBenchTarget } from './bench-target.js';
import { HttpLoad } from './http-load.js';
import { type RelayBenchTarget, requestMaker } from './relay-register.js';

const rounds = 9;
const roundMilliseconds = 1000;
const connections = 64;

/** Ready message of the prototype. */
export interface PrototypeTarget
  extends Pick<RelayBenchTarget, 'authorization' | 'realmUuid' | 'bouncerPublicKey'> {
  readonly port: number;
}

/**
 * `relay-whole`: durable registrations per second of the relay as shipped, on SQLite and with its log in a file,
 * compared with a minimal prototype with the same guarantees.
 */
export async function run(): Promise<BenchResult[]> {
  const relay = await openWholeRelay(undefined, connections);
  try {
    const program = new URL('./prototype.ts', import.meta.url);
    const rates = await withBenchTarget(program, [], async (target: PrototypeTarget) => {
      const nextRequest = await requestMaker(target);
      const prototype = await HttpLoad.open({ port: target.port, connections, nextRequest });
      await prototype.run(roundMilliseconds);
      const figures = await medianRates(
        rounds,
        () => relay.load.run(roundMilliseconds),
        () => prototype.run(roundMilliseconds),
      );
      prototype.close();
      return figures;
    });
    return [{ name: 'relay-whole', unit: 'registrations/s', ...rates, goal: 0.9, better: 'higher' }];
  } finally {
    await relay.close();
  }
}
