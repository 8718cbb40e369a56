import { openWholeRelay } from './bench-relay.js';
import { type BenchResult, medianRates } from './bench-result.js';
import { withBenchTarget } from './bench-target.js';
import { HttpLoad } from './http-load.js';
import { type RelayBenchTarget, requestMaker } from './relay-register.js';

const rounds = 9;
const roundMilliseconds = 1000;
const connections = 64;

/** The prototype's ready message. */
export interface PrototypeTarget
  extends Pick<RelayBenchTarget, 'authorization' | 'realmUuid' | 'bouncerPublicKey'> {
  readonly port: number;
}

/**
 * `relay-whole`: registrations per second by the relay as shipped, on SQLite, durable and with its log in a file,
 * against a minimal prototype with the same guarantees.
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
