import { describe, expect, it } from 'vitest';
import fc from '../../../support/fast-check.js';
import {
  database,
  dies,
  type From,
  forgetBreakersAfterEach,
  frozen,
  isSent,
  startProcess,
} from './deletion-breakers-under-test.js';

forgetBreakersAfterEach();

describe('deletion breakers at any load', () => {
  const topology = fc.record({
    servers: fc.integer({ min: 1, max: 8 }),
    realmsOfServer: fc.integer({ min: 1, max: 8 }),
    healthyBefore: fc.integer({ min: 0, max: 300 }),
    order: fc.infiniteStream(fc.nat()),
  });
  const placeOf = (index: number, servers: number, realms: number): From => {
    const server = `server ${index % servers}`;
    return { server, realm: `${server}, realm ${Math.floor(index / servers) % realms}` };
  };

  it('delete at most 100 tokens if a mistake makes every token look dead', async () => {
    await fc.assert(
      fc.asyncProperty(topology, fc.boolean(), async (at, isOneByOne) => {
        await database?.write(({ db }) => db.deleteFrom('app_breakers').execute());
        const breakers = await startProcess();
        const { servers, realmsOfServer } = at;
        const order = at.order[Symbol.iterator]();
        const realms = servers * realmsOfServer;
        for (let count = 0; count < at.healthyBefore; count += 1) {
          isSent(breakers, placeOf(order.next().value, servers, realmsOfServer));
        }
        let deleted = 0;
        for (let count = 0; count < 30 * realms; count += 1) {
          const index = isOneByOne ? Math.floor(count / 30) : order.next().value;
          if (await dies(breakers, placeOf(index, servers, realmsOfServer))) deleted += 1;
        }
        expect(deleted).toBeLessThanOrEqual(100);
      }),
      { numRuns: 25 },
    );
  });

  it('freeze no other realm or server if one has many dead tokens', async () => {
    await fc.assert(
      fc.asyncProperty(topology, fc.boolean(), fc.nat(3), async (at, isWholeServer, deadAtOnce) => {
        await database?.write(({ db }) => db.deleteFrom('app_breakers').execute());
        const breakers = await startProcess();
        const order = at.order[Symbol.iterator]();
        const bad = (index: number): From =>
          isWholeServer
            ? { server: 'bad', realm: `bad ${index % 20}` }
            : { server: 'server 0', realm: 'bad' };
        for (let count = 0; count < 400; count += 1) {
          for (let dead = 0; dead < deadAtOnce; dead += 1) await dies(breakers, bad(order.next().value));
          const other = placeOf(order.next().value, at.servers, at.realmsOfServer);
          // One in thirty tokens is dead, which is normal.
          if (count % 30 === 29) expect(await dies(breakers, other)).toBe(true);
          else isSent(breakers, other);
        }
        expect((await frozen()).filter((scope) => !scope.includes('bad'))).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });
});
