import { createBenchWorld, openRegistrationLoad } from './bench-relay.js';
import { type BenchResult, medianRates } from './bench-result.js';
import type { HttpLoad } from './http-load.js';
import { fillDevices, tokenVaultOf } from './many-devices.js';

const manyRows = 1_000_000;
const fewRows = 10_000;
const rounds = 9;
const roundMilliseconds = 1000;
const connections = 256;

/** `register-rows`: durable registrations per second on SQLite with a million devices, compared with ten thousand. */
export async function run(): Promise<BenchResult[]> {
  const many = await openRelay(manyRows);
  const few = await openRelay(fewRows);
  try {
    for (const { load } of [many, few]) await load.run(roundMilliseconds);
    const rates = await medianRates(
      rounds,
      () => many.load.run(roundMilliseconds),
      () => few.load.run(roundMilliseconds),
    );
    return [{ name: 'register-rows', unit: 'registrations/s', ...rates, goal: 0.9, better: 'higher' }];
  } finally {
    await many.close();
    await few.close();
  }
}

async function openRelay(rows: number): Promise<{ load: HttpLoad; close(): Promise<void> }> {
  const world = await createBenchWorld(undefined);
  const { relayEnv } = world.constellation;
  const { RELAY_DATABASE: url = '', RELAY_PORT: port } = relayEnv;
  fillDevices(url.slice('sqlite:'.length), rows, await tokenVaultOf(relayEnv));
  await world.constellation.startRelay();
  const load = await openRegistrationLoad(world, Number(port), connections);
  return {
    load,
    async close() {
      load.close();
      await world.close();
    },
  };
}
