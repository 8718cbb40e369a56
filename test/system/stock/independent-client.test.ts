import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { StockWorld, type WorldUser } from './stock-world.js';

const script = join(import.meta.dirname, 'independent_client.py');
/** Debian's Python, because it can load Debian's PyNaCl package. */
const python = '/usr/bin/python3';
let world: StockWorld;
let sender: WorldUser;

beforeAll(async () => {
  world = await StockWorld.create();
  await world.startRelay();
  await world.startServer();
  sender = await world.addUser('sender');
});
afterAll(() => world.close());

it.concurrent.each([
  ['older', 'fcm'],
  ['older', 'apns'],
  ['newer', 'fcm'],
  ['newer', 'apns'],
])(
  'a PyNaCl client registers, gets notifications, and rotates its key and token: %s generation, %s',
  async (generation, kind) => {
    const user = await world.addUser(`${generation}-${kind}`);
    const options = {
      server: world.serverUrl,
      vendors: world.vendors.urls.http,
      'bouncer-key': await world.bouncerPublicKey(),
      email: user.email,
      password: user.password,
      'sender-email': sender.email,
      'sender-password': sender.password,
      generation,
      kind,
    };
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    const { stdout } = await promisify(execFile)(python, ['-B', script, ...args]);
    const steps = stdout.trim().split('\n');
    expect(steps.map((line) => JSON.parse(line))).toEqual([
      { step: 'registered', result: null },
      { step: 'notified', result: 'message' },
      { step: 'rotated its key', result: 'message' },
      { step: 'rotated its token', result: 'message' },
      { step: 'tested', result: 'test' },
      { step: 'was refused', result: 'INVALID_BOUNCER_PUBLIC_KEY' },
      { step: 'recovered', result: 'message' },
    ]);
  },
);
