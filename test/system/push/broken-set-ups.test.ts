import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { atTheRelay } from './broken-at-the-relay.js';
import { beforeJoining } from './broken-before-joining.js';
import { configuration } from './broken-configuration.js';
import { delivery } from './broken-delivery.js';
import { network } from './broken-network.js';
import { type Broken, BrokenWorld } from './broken-world.js';

let w: BrokenWorld;
beforeAll(async () => {
  w = await BrokenWorld.create();
}, 60_000);
afterAll(() => w.close());

function describeEach(title: string, setUps: Readonly<Record<string, Broken>>): void {
  describe(title, () => {
    it.each(Object.entries(setUps))('names the cause and the remedy of %s', async (_, broken) => {
      const { code, found } = await w.diagnose(broken);
      expect(code).toBe(1);
      expect(found.cause).toMatch(broken.cause);
      expect(found.remedy).toMatch(broken.remedy);
      expect(found.cause).toMatch(/\.$/);
    });
  });
}

// All set-ups share one world, so each is repaired before the next one is broken.
describe('push status', () => {
  describeEach('before the server has joined a relay', beforeJoining);
  describe('after the server has joined a relay', () => {
    beforeAll(() => w.join());
    describeEach('with a wrong configuration', configuration);
    describeEach('with a network fault', network);
    describeEach('with a fault at the relay', atTheRelay);
    describeEach('with a fault in deliveries', delivery);

    it('finds no problem after all repairs', async () => {
      const { code, checks } = await w.world.status();
      expect([code, checks.filter(({ ok }) => !ok)]).toEqual([0, []]);
    });

    it('prints no secret in any broken set-up', () => {
      const pushOutput = w.world.pushOutput.join('\n');
      expect(pushOutput.length).toBeGreaterThan(10_000);
      for (const secret of [w.serverKey, w.ownKey.trim(), w.ada.api_key]) {
        expect(pushOutput).not.toContain(secret);
        expect(w.world.log.text()).not.toContain(secret);
      }
    });
  });
});
