import { freePort } from '../support/free-ports.js';
import { createBenchWorld, openRegistrationLoad } from './bench-relay.js';
import { type BenchResult, medianRates } from './bench-result.js';

const rounds = 5;
const roundMilliseconds = 1500;
const connections = 512;

/**
 * `two-processes`: registrations per second with two relays on one PostgreSQL database, compared with one relay and the
 * same number of connections. Load generator and database share the machine. Skipped if `WAXWING_TEST_POSTGRES_URL` is
 * not set.
 */
export async function run(): Promise<BenchResult[]> {
  const postgresUrl = process.env.WAXWING_TEST_POSTGRES_URL;
  if (!postgresUrl) {
    console.error('two-processes is skipped: WAXWING_TEST_POSTGRES_URL is not set');
    return [];
  }
  const world = await createBenchWorld(postgresUrl);
  try {
    const first = await freePort(2);
    const second = first + 1;
    for (const port of [first, second]) await world.constellation.startRelay({ RELAY_PORT: String(port) });
    const alone = await openRegistrationLoad(world, first, connections);
    const halves = [
      await openRegistrationLoad(world, first, connections / 2),
      await openRegistrationLoad(world, second, connections / 2),
    ];
    const together = async (): Promise<number> => {
      const rates = await Promise.all(halves.map((half) => half.run(roundMilliseconds)));
      return rates.reduce((sum, rate) => sum + rate);
    };
    await together();
    const rates = await medianRates(rounds, together, () => alone.run(roundMilliseconds));
    for (const load of [alone, ...halves]) load.close();
    return [{ name: 'two-processes', unit: 'registrations/s', ...rates, goal: 1.1, better: 'higher' }];
  } finally {
    await world.close();
  }
}
