import { keyListPath, registerPushDevicePath, relayNotifyPath, relayRegisterPath } from '@waxwing/protocol';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type AttackWorld, createAttackWorld } from './attack-world.js';
import { expectUnharmed } from './expect-unharmed.js';
import { attacks, attacksOn, settings } from './http-attacks.js';

const testMilliseconds = 300_000;
let world: AttackWorld;

beforeAll(async () => {
  world = await createAttackWorld({ settings, requestsPerActor: 30 });
}, testMilliseconds);
afterAll(() => world?.close());

describe.each([
  { name: 'relay', paths: { form: relayRegisterPath, json: relayNotifyPath, open: keyListPath } },
  {
    name: 'server',
    paths: { form: registerPushDevicePath, json: registerPushDevicePath, open: '/api/v1/events' },
  },
] as const)('whoever uses the $name is answered as soon as ever', ({ name, paths }) => {
  it.each(attacksOn(name))(
    'while %s',
    async (what) => {
      const target = world[name];
      const attack = attacks[what]?.(target, paths);
      if (attack !== undefined) await expectUnharmed(target, attack);
    },
    testMilliseconds,
  );
});
