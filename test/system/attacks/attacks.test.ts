import { afterAll, beforeAll, describe, it } from 'vitest';
import { eachBackend, testPostgresUrl } from '../../support/test-databases.js';
import { type AttackWorld, createAttackWorld } from './attack-world.js';
import {
  everyHttpRefusal,
  everyRefusal,
  httpAttacksOn,
  httpRefusalsOn,
  type MakeAttack,
  makeEveryExpensive,
  warmUp,
} from './attacks.js';
import { expectUnharmed, warmUpBy } from './expect-unharmed.js';
import { tooLarge } from './http-refusals.js';
import { gateScale, reachableLimits } from './scale.js';

const testMilliseconds = 400_000;

eachBackend(({ name }) => {
  let world: AttackWorld;
  let warmed: Awaited<ReturnType<typeof warmUp>>;
  beforeAll(async () => {
    const postgresUrl = name === 'postgres' ? testPostgresUrl : undefined;
    world = await createAttackWorld({ ...reachableLimits, postgresUrl });
    warmed = await warmUp(world);
  }, testMilliseconds);
  afterAll(() => world?.close());

  describe.each(['relay', 'server'] as const)('the %s under attack', (program) => {
    // Connection attacks do not query the database, so they are tested only on SQLite.
    const ofConnections = name === 'sqlite' ? attacksOfConnections(program) : [];
    const ofMembers: MakeAttack = (...given) => warmed[program](...given);
    it.each([...ofConnections, [everyRefusal, ofMembers] as const])(
      'serves an honest user within the latency limit while %s',
      async (_what, make) => expectUnharmed(world[program], await make(world, gateScale)),
      testMilliseconds,
    );
  });

  it(
    'others are served while one user makes every expensive request, thirty at once',
    async () => {
      const attack = await makeEveryExpensive(world, gateScale);
      await warmUpBy(world.server, attack);
      await expectUnharmed(world.server, attack);
    },
    testMilliseconds,
  );
});

/**
 * Connection attacks, and floods that cycle through all kinds of refused requests. (`npm run attacks` sends each kind
 * on its own.)
 */
function attacksOfConnections(program: 'relay' | 'server'): [string, MakeAttack][] {
  const inGate = [everyHttpRefusal, `${tooLarge} at full speed`];
  const refused = Object.entries(httpRefusalsOn(program)).filter(([what]) => inGate.includes(what));
  return [...Object.entries(httpAttacksOn(program)), ...refused];
}
