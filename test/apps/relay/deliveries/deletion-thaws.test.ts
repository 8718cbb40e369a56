import { describe, expect, it } from 'vitest';
import type { DeletionBreakers } from '#relay/deliveries/breakers/deletion-breakers.js';
import type { Delivery } from '#relay/deliveries/delivery.js';
import {
  app,
  delivery,
  forgetBreakersAfterEach,
  frozen,
  hear,
  hour,
  startProcess,
  time,
} from './deletion-breakers-under-test.js';

forgetBreakersAfterEach();

/**
 * Simulates a day of notifications to random phones, `dead` of which have tokens that the vendor reports as dead.
 * Returns the number of tokens deleted by the end of each hour.
 */
async function day(
  breakers: DeletionBreakers,
  { phones, dead, perHour }: { phones: number; dead: number; perHour: number },
): Promise<number[]> {
  const deleted = new Set<number>();
  const afterHours: number[] = [];
  let seed = 1;
  const begin = time.now;
  for (let count = 0; count < phones * perHour * 24; count += 1) {
    time.now = begin + Math.floor((count * hour) / (phones * perHour));
    seed = (seed * 48_271) % 2_147_483_647;
    const phone = seed % phones;
    const each = delivery({}, -1 - phone);
    if (phone >= dead) breakers.noteSent(app, each);
    else if (!deleted.has(phone) && (await breakers.mayDelete(app, each))) deleted.add(phone);
    if ((count + 1) % (phones * perHour) === 0) afterHours.push(deleted.size);
  }
  return afterHours;
}

describe('a mistake that makes some tokens look dead', () => {
  it.each([
    { phones: 200, dead: 100, perHour: 6, most: 30 },
    { phones: 1000, dead: 500, perHour: 3, most: 30 },
    { phones: 1000, dead: 950, perHour: 1, most: 30 },
    { phones: 100, dead: 50, perHour: 20, most: 30 },
    { phones: 1000, dead: 300, perHour: 3, most: 60 },
    { phones: 1000, dead: 200, perHour: 6, most: 60 },
    { phones: 200, dead: 100, perHour: 1, most: 30 },
  ])(
    'deletes few of $dead dead tokens of $phones phones with $perHour notifications each per hour',
    async (of) => {
      const breakers = await startProcess();
      const [first = 0, ...later] = await day(breakers, of);
      expect(first).toBeLessThanOrEqual(of.most);
      expect([...new Set(later)]).toEqual([first]);
      expect(await frozen()).toEqual(['realm one']);
    },
    60_000,
  );

  it('deletes at most 60 of 300 devices, even after a thaw', async () => {
    const breakers = await startProcess();
    const dead = Array.from({ length: 300 }, () => delivery({}));
    const deleted = new Set<Delivery>();
    const tryAll = async () => {
      for (const each of dead) if (await breakers.mayDelete(app, each)) deleted.add(each);
    };
    await tryAll();
    time.now += hour;
    await breakers.review();
    await hear(breakers, 100, 0);
    time.now += hour - 1;
    await tryAll();
    // The hour that ends now counted these dead tokens. The next hour does not count them.
    time.now += hour;
    await breakers.review();
    await hear(breakers, 100, 0);
    time.now += hour;
    await breakers.review();
    expect(await frozen()).toEqual([]);
    await tryAll();
    expect(deleted.size).toBeLessThanOrEqual(60);
    expect(await frozen()).toEqual(['realm one']);
  });

  it('deletes at most 40 devices if the same phones are in two realms', async () => {
    const breakers = await startProcess();
    let deleted = 0;
    for (const realm of ['one', 'two']) {
      for (let phone = 1; phone <= 100; phone += 1) {
        if (await breakers.mayDelete(app, delivery({ realm }, phone))) deleted += 1;
      }
    }
    expect(deleted).toBeLessThanOrEqual(40);
  });
});

describe('a thaw', () => {
  it.each([
    [0, 0],
    [1, 0],
    [20, 0],
    [0, 2],
    [17, 2],
  ])('follows an hour with %d living and %d dead phones in a small realm', async (alive, dead) => {
    const breakers = await startProcess();
    await hear(breakers, 21, 1);
    await hear(breakers, alive, 0);
    expect(await hear(breakers, dead, 1)).toBe(0);
    time.now += hour - 1;
    await breakers.review();
    expect(await frozen()).toEqual(['realm one']);
    time.now += 1;
    await breakers.review();
    expect(await frozen()).toEqual([]);
  });

  it.each([
    [0, 3],
    [17, 3],
  ])('does not follow an hour with %d living and %d dead phones', async (alive, dead) => {
    const breakers = await startProcess();
    await hear(breakers, 21, 1);
    await hear(breakers, alive, 0);
    await hear(breakers, dead, 1);
    time.now += hour;
    await breakers.review();
    expect(await frozen()).toEqual(['realm one']);
  });

  it('follows an hour without deliveries after a restart', async () => {
    await hear(await startProcess(), 30, 1);
    const breakers = await startProcess();
    time.now += hour;
    await breakers.review();
    expect(await frozen()).toEqual([]);
  });

  it('lets the next mistake delete only few tokens, at growing intervals', async () => {
    const breakers = await startProcess();
    let deleted = 0;
    for (let passed = 0; passed < 48; passed += 1) {
      if (passed % 24 === 0) deleted += await hear(breakers, 100, 1);
      time.now += hour;
      await breakers.review();
    }
    expect(deleted).toBeLessThanOrEqual(40);
  });

  it('waits while another process still sees dead tokens', async () => {
    const [first, second] = [await startProcess(), await startProcess()];
    let deleted = await hear(first, 100, 1);
    await second.load();
    for (let minute = 0; minute < 6 * 60; minute += 1) {
      time.now += 60_000;
      deleted += await hear(first, 2, 1);
      await hear(second, 5, 0);
      for (const each of [first, second]) {
        await each.takeUpChanges();
        await each.review();
      }
    }
    expect(deleted).toBe(20);
    expect(await frozen()).toEqual(['realm one']);
    for (let minute = 0; minute < 3 * 60; minute += 1) {
      time.now += 60_000;
      await hear(second, 5, 0);
      for (const each of [first, second]) await each.review();
    }
    expect(await frozen()).toEqual([]);
  });

  it('is necessary in every process, because a freeze reaches the other processes within seconds', async () => {
    const [first, second] = [await startProcess(), await startProcess()];
    expect(await hear(first, 100, 1)).toBe(20);
    time.now += 2000;
    expect(await hear(second, 20, 1)).toBe(0);
  });

  it('takes twice as long after each freeze within a day of the previous thaw', async () => {
    const breakers = await startProcess();
    const hoursToThaw: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      await hear(breakers, 30, 1);
      let hours = 0;
      while ((await frozen()).length > 0) {
        await hear(breakers, 200, 0);
        time.now += hour;
        hours += 1;
        await breakers.review();
      }
      hoursToThaw.push(hours);
    }
    expect(hoursToThaw).toEqual([1, 2, 4, 8, 16, 24]);
  });
});
