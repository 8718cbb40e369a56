import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { olderLevel } from '../support/announcing.js';
import { Constellation } from '../support/constellation.js';
import { runJsonCommand } from '../support/spawned-process.js';

let world: Constellation;
beforeEach(async () => {
  world = await Constellation.create();
  await Promise.all([world.startRelay(), world.startServer()]);
}, 120_000);
afterEach(() => world.close());

function countRelayDevices(): unknown {
  const path = (world.relayEnv.RELAY_DATABASE ?? '').slice('sqlite:'.length);
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database.prepare('select count(*) as count from relay_devices').get()?.count;
  } finally {
    database.close();
  }
}

it.each([
  ['newer', undefined],
  ['older', olderLevel],
] as const)(
  'deactivating a user removes only this user’s phone from the relay: %s generation',
  async (_, level) => {
    for (const name of ['ada', 'bob']) {
      const token = { tokenKind: 'fcm', token: `fcm-of-${name}` } as const;
      const phone = await world.phone(await world.addUser(name), token, level);
      expect(await phone.registrar.sync()).toMatchObject({ code: 'active' });
    }
    expect(countRelayDevices()).toBe(2);
    const env = world.serverEnv;
    await runJsonCommand('waxwing-server', ['users', 'deactivate', 'ada@system.example', '--yes'], { env });
    while (countRelayDevices() === 2) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(countRelayDevices()).toBe(1);
  },
  120_000,
);
