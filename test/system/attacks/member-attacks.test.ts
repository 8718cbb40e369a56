import { afterAll, beforeAll, describe, it } from 'vitest';
import { eachBackend, testPostgresUrl } from '../../support/test-databases.js';
import { type AttackWorld, createAttackWorld } from './attack-world.js';
import { everyRefusal, memberAttacksOn, warmUp } from './attacks.js';
import { expectUnharmed } from './expect-unharmed.js';
import { gateScale, reachableLimits } from './scale.js';

const testMilliseconds = 300_000;

eachBackend(({ name }) => {
  let world: AttackWorld;
  beforeAll(async () => {
    const postgresUrl = name === 'postgres' ? testPostgresUrl : undefined;
    world = await createAttackWorld({ ...reachableLimits, postgresUrl });
    await warmUp(world);
  }, testMilliseconds);
  afterAll(() => world?.close());

  describe.each(['relay', 'server'] as const)(
    'whoever uses the %s is answered as soon as ever',
    (program) => {
      it(
        `while ${everyRefusal}`,
        async () => {
          const attack = await memberAttacksOn(program)[everyRefusal]?.(world, gateScale);
          if (attack === undefined) throw new Error('there is no such attack');
          await expectUnharmed(world[program], attack);
        },
        testMilliseconds,
      );
    },
  );
});
