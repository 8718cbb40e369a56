import { expect, it } from 'vitest';
import { RecentLookups } from '#relay/servers/recent-lookups.js';
import fc from '../../../support/fast-check.js';

it('the cache never exceeds its maximum size, and never returns an entry after its TTL', () => {
  const step = fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    wait: fc.integer({ min: -500, max: 1500 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 1_000_000;
      const lookups = new RecentLookups<number>({
        clock: () => now,
        lifetimeMilliseconds: 1000,
        maximumEntries: 3,
      });
      const rememberedAt = new Map<string, number>();
      for (const { key, wait } of steps) {
        now += wait;
        const found = ['a', 'b', 'c', 'd', 'e', 'f'].filter((name) => lookups.get(name) !== undefined);
        expect(found.length).toBeLessThanOrEqual(3);
        for (const name of found) {
          const age = now - (rememberedAt.get(name) ?? Number.NEGATIVE_INFINITY);
          expect(age).toBeGreaterThanOrEqual(0);
          expect(age).toBeLessThan(1000);
          expect(lookups.get(name)).toBe(rememberedAt.get(name));
        }
        lookups.remember(key, now);
        rememberedAt.set(key, now);
        expect(lookups.get(key)).toBe(now);
      }
    }),
  );
});

it('the cache evicts the entry that was stored longest ago', () => {
  const lookups = new RecentLookups<number>({
    clock: () => 0,
    lifetimeMilliseconds: 1000,
    maximumEntries: 2,
  });
  for (const [at, key] of ['a', 'b', 'a', 'c'].entries()) lookups.remember(key, at);
  expect(['a', 'b', 'c'].map((key) => lookups.get(key))).toEqual([2, undefined, 3]);
});
