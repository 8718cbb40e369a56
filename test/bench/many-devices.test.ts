import { expect, it, onTestFinished } from 'vitest';
import { createBenchWorld } from './bench-relay.js';
import { fillDevices, tokenVaultOf } from './many-devices.js';

it('a relay is ready after its database was filled with devices', async () => {
  const world = await createBenchWorld(undefined);
  onTestFinished(() => world.close());
  const { relayEnv, relayUrl } = world.constellation;
  fillDevices((relayEnv.RELAY_DATABASE ?? '').slice('sqlite:'.length), 300, await tokenVaultOf(relayEnv));
  await world.constellation.startRelay();
  const answer = await fetch(`${relayUrl}/health/ready`);
  expect(await answer.json()).toEqual({
    ready: true,
    checks: { database: 'ok', keys: 'ok', vendors: 'ok', files: 'ok', load: 'ok' },
  });
});
