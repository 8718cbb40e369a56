import { afterAll, beforeAll, describe, it } from 'vitest';
import { type AttackWorld, createAttackWorld } from './attack-world.js';
import { httpAttacksOn } from './attacks.js';
import { expectUnharmed } from './expect-unharmed.js';
import { gateScale, reachableLimits } from './scale.js';

const testMilliseconds = 300_000;
let world: AttackWorld;

beforeAll(async () => {
  world = await createAttackWorld(reachableLimits);
}, testMilliseconds);
afterAll(() => world?.close());

describe.each(['relay', 'server'] as const)('whoever uses the %s is answered as soon as ever', (program) => {
  it.each(Object.entries(httpAttacksOn(program)))(
    'while %s',
    async (_what, make) => expectUnharmed(world[program], await make(world, gateScale)),
    testMilliseconds,
  );
});
