import { describe, expect, it } from 'vitest';
import { rotate } from '#relay/keyring/ring/key-ring-transitions.js';
import { closedAfterEach, keeperOf, liveRing, worldOnDisk } from './live-ring-under-test.js';
import { day, sodium, startedAt } from './ring-material.js';

const year = 365 * day;
const dayOf = (instant: number) => new Date(instant).toISOString().slice(0, 10);

describe('a relay whose clock is far from the times in the ring', () => {
  const closers = closedAfterEach();
  const world = () => worldOnDisk(closers);

  it('does not start if the clock is ten years ahead, unless the operator confirms the date', async () => {
    const here = await world();
    const before = await keeperOf(here).read();
    here.time.now += 10 * year;
    await expect(liveRing(here)).rejects.toThrow('3650 days after the last change of the key ring');
    expect(await keeperOf(here).readStored()).toBe(before.stored);
    const confirmedDay = Date.parse(dayOf(here.time.now));
    const live = await liveRing({ ...here, configuration: { ...here.configuration, confirmedDay } });
    closers.push(() => live.close());
    expect(live.keyRing.publishedKeyList().issuedAt).toBe(here.time.now);
  });

  it('does not start if the ring is from the future', async () => {
    const here = await world();
    here.time.now -= 2 * day;
    await expect(liveRing(here)).rejects.toThrow('but the key ring was changed at');
  });

  it('keeps its keys if the clock jumps ahead by ten years, and reports the remedy', async () => {
    const here = await world();
    const monotonic = { now: 0 };
    const live = await liveRing(here, () => monotonic.now);
    closers.push(() => live.close());
    const context = { policy: here.configuration.policy, makeKeyPair: () => sodium.generateKeyPair() };
    const rotated = (now: number) =>
      keeperOf(here).change((ring) => rotate(ring, { ...context, now }), { actor: 'test', action: 'test' });
    const { ring } = await rotated(here.time.now);
    await live.keyRing.refresh();
    const list = live.keyRing.publishedKeyList();
    here.time.now += 10 * year;
    await live.keyRing.refresh();
    monotonic.now += 3_600_000;
    here.time.now += 3_600_000;
    await live.keyRing.refresh();
    expect(live.keyRing.describe().problem).toContain('RELAY_KEY_TODAY');
    expect(live.keyRing.publishedKeyList()).toEqual(list);
    await expect(rotated(here.time.now)).rejects.toThrow('RELAY_KEY_TODAY');
    here.time.now = startedAt + 7_200_000;
    await live.keyRing.refresh();
    expect(live.keyRing.describe().problem).toBeUndefined();
    const publicKeys = ring.bouncerKeys.map(({ publicKey }) => publicKey);
    expect(publicKeys.length).toBeGreaterThan(1);
    expect(publicKeys.filter((publicKey) => live.keyRing.find(publicKey) === undefined)).toEqual([]);
  });
});
