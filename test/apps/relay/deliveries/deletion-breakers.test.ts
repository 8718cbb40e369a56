import { describe, expect, it, vi } from 'vitest';
import type { BreakerStore } from '#relay/deliveries/breakers/breaker-store.js';
import {
  app,
  delivery,
  dies,
  forgetBreakersAfterEach,
  frozen,
  hear,
  hour,
  logged,
  startProcess,
  store,
  time,
} from './deletion-breakers-under-test.js';

forgetBreakersAfterEach();

function gate(): { passed: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

describe('the usual share of dead tokens', () => {
  it('is not updated in an hour without outcomes', async () => {
    const breakers = await startProcess();
    expect(await hear(breakers, 10, 1)).toBe(10);
    time.now += hour + 1;
    expect(await hear(breakers, 500, 1)).toBeLessThanOrEqual(20);
  });

  it('never rises so far that nearly all tokens may be dead', async () => {
    const breakers = await startProcess();
    for (let window = 0; window < 10; window += 1) await hear(breakers, 1000, 0.18);
    for (let window = 0; window < 5; window += 1) await hear(breakers, 1000, 0.5);
    expect(await frozen()).toEqual([]);
    expect(await hear(breakers, 1000, 1)).toBeLessThanOrEqual(20);
    expect(await frozen()).toEqual(['realm one']);
  });

  it('never rises so far that 19 of 20 tokens may be dead', async () => {
    const breakers = await startProcess();
    for (let window = 0; window < 10; window += 1) await hear(breakers, 1000, 0.18);
    for (let window = 0; window < 5; window += 1) await hear(breakers, 1000, 0.5);
    await hear(breakers, 1000, 0.95);
    expect(await frozen()).toEqual(['realm one']);
  });

  it('is not updated by a process that starts while deletions are frozen', async () => {
    await hear(await startProcess(), 30, 1);
    const breakers = await startProcess();
    for (let round = 0; round < 5; round += 1) {
      await hear(breakers, 2000, 0.5);
      time.now += hour + 1;
      await breakers.review();
    }
    expect(await frozen()).toEqual(['realm one']);
  });

  it('allows five dead tokens per hour, even if nothing is sent in between', async () => {
    const breakers = await startProcess();
    for (let passed = 0; passed < 10; passed += 1) {
      expect(await hear(breakers, 5, 1)).toBe(5);
      time.now += hour;
    }
    expect(await frozen()).toEqual([]);
  });

  it('is not updated while deletions are frozen', async () => {
    const breakers = await startProcess();
    await hear(breakers, 30, 1);
    for (let round = 0; round < 5; round += 1) {
      await hear(breakers, 2000, 0.5);
      time.now += hour + 1;
      await breakers.review();
    }
    expect(await frozen()).toEqual(['realm one']);
  });
});

describe('a freeze that cannot be stored', () => {
  it('prevents deletions, and takes effect once the database is back', async () => {
    const breakers = await startProcess();
    expect(await hear(breakers, 20, 1)).toBe(20);
    const open = vi
      .spyOn(store as BreakerStore, 'open')
      .mockRejectedValueOnce(new Error('the database is away'));
    await expect(dies(breakers)).rejects.toThrow('away');
    expect(await frozen()).toEqual([]);
    expect(await dies(breakers)).toBe(false);
    expect(await frozen()).toEqual(['realm one']);
    expect(open).toHaveBeenCalledTimes(2);
    expect(await store?.confirm(app, time.now)).toBe(true);
  });
});

describe('deletions that an operator confirmed', () => {
  it('are not frozen again on the same day by a process with stale data', async () => {
    const [first, second] = [await startProcess(), await startProcess()];
    expect(await hear(first, 100, 1)).toBe(20);
    expect(await store?.confirm(app, time.now)).toBe(true);
    time.now += 60_000;
    expect(await hear(second, 100, 1)).toBe(100);
    expect(await hear(first, 100, 1)).toBe(100);
    expect(await store?.list()).toMatchObject([{ confirmedAt: time.now - 60_000 }]);
  });

  it('can be frozen again after a day', async () => {
    const breakers = await startProcess();
    await hear(breakers, 100, 1);
    await store?.confirm(app, time.now);
    time.now += 23 * hour;
    expect(await hear(breakers, 100, 1)).toBe(100);
    time.now += 2 * hour;
    expect(await hear(breakers, 100, 1)).toBeLessThanOrEqual(20);
  });
});

describe('deletions that are frozen', () => {
  it('stay frozen if a stale read returns an older confirmation', async () => {
    const other = 'fcm:another-project';
    const breakers = await startProcess();
    await hear(breakers, 100, 1);
    await store?.confirm(app, time.now);
    time.now += 25 * hour;
    // After these results, one more dead token of either app freezes that app's deletions.
    for (const of of [app, other]) await hear(breakers, 20, 1, { app: of });
    const { open, list } = store as BreakerStore;
    const [stored, told] = [gate(), gate()];
    const opening = vi.spyOn(store as BreakerStore, 'open').mockImplementationOnce(async (breaker) => {
      await stored.passed;
      await open.call(store as BreakerStore, breaker);
    });
    const freezing = dies(breakers);
    await expect.poll(() => opening.mock.calls.length).toBe(1);
    const reading = vi.spyOn(store as BreakerStore, 'list').mockImplementationOnce(async () => {
      const read = await list.call(store as BreakerStore);
      await told.passed;
      return read;
    });
    const beside = dies(breakers, { app: other });
    await expect.poll(() => reading.mock.calls.length).toBe(1);
    stored.open();
    expect(await freezing).toBe(false);
    told.open();
    expect(await beside).toBe(false);
    expect(await frozen()).toEqual(['realm one']);
    expect(await hear(breakers, 20, 1)).toBe(0);
  });
});

describe('the scope of a freeze', () => {
  it('is a realm if only that realm has many dead tokens', async () => {
    const breakers = await startProcess();
    await hear(breakers, 100, 0);
    expect(await hear(breakers, 500, 1, { realm: 'bad' })).toBeLessThanOrEqual(20);
    expect(await frozen()).toEqual(['realm bad']);
    expect(await hear(breakers, 1000, 0.05)).toBe(50);
    expect(await frozen()).toEqual(['realm bad']);
  });

  it('is a server if several of its realms have many dead tokens, or the app if several servers do', async () => {
    const breakers = await startProcess();
    const realms = (server: string) =>
      ['a', 'b', 'c'].map((realm) => ({ server, realm: `${server}${realm}` }));
    let deleted = 0;
    for (const from of realms('one')) deleted += await hear(breakers, 100, 1, from);
    expect(await frozen()).toEqual(['realm onea', 'realm oneb', 'server one']);
    expect(await hear(breakers, 100, 0.1, { server: 'other', realm: 'other' })).toBe(10);
    for (const server of ['two', 'three']) {
      for (const from of realms(server)) deleted += await hear(breakers, 100, 1, from);
    }
    expect(await frozen()).toContain('all');
    expect(deleted).toBeLessThanOrEqual(90);
    expect(await dies(breakers, { server: 'other', realm: 'other' })).toBe(false);
  });

  it('does not grow to a realm in which one account has many dead tokens, or many accounts share one', async () => {
    const breakers = await startProcess();
    const manyTokens = Array.from({ length: 100 }, (_, phone) => delivery({}, phone + 1_000_000, 7));
    const manyAccounts = Array.from({ length: 100 }, (_, account) => delivery({}, 1, account + 100));
    for (const dead of [...manyTokens, ...manyAccounts])
      expect(await breakers.mayDelete(app, dead)).toBe(true);
    expect(await frozen()).toEqual([]);
  });

  it('is logged and reported only once', async () => {
    const told: number[] = [];
    const breakers = await startProcess((_app, count) => told.push(count));
    await Promise.all(Array.from({ length: 100 }, () => dies(breakers)));
    expect(told).toEqual([1]);
    expect(logged().split('deletions are frozen')).toHaveLength(2);
  });
});

describe('frozen deletions', () => {
  it('thaw in every process after an hour with a usual share of dead tokens', async () => {
    const told: number[] = [];
    const [first, second] = [await startProcess((_app, count) => told.push(count)), await startProcess()];
    await hear(first, 100, 1);
    expect(await dies(second)).toBe(true);
    await second.load();
    expect(await dies(second)).toBe(false);
    await hear(first, 1000, 0.02);
    time.now += hour - 1;
    expect(await dies(first)).toBe(false);
    time.now += 1;
    await first.review();
    expect(await frozen()).toEqual([]);
    expect(told).toEqual([1, 0]);
    time.now += 3000;
    expect([await dies(first), await dies(second)]).toEqual([true, true]);
  });

  it('stay frozen after an hour with too many dead tokens', async () => {
    const breakers = await startProcess();
    await hear(breakers, 100, 1);
    await hear(breakers, 100, 0.3);
    time.now += hour;
    expect(await dies(breakers)).toBe(false);
    expect(await frozen()).toEqual(['realm one']);
  });

  it('do not stay frozen longer because the same dead tokens are reported repeatedly', async () => {
    const breakers = await startProcess();
    const dead = Array.from({ length: 25 }, () => delivery({}));
    for (let round = 0; round < 50; round += 1) {
      for (const each of dead) await breakers.mayDelete(app, each);
      await hear(breakers, 20, 0);
    }
    expect(await frozen()).toEqual(['realm one']);
    time.now += hour;
    await breakers.review();
    expect(await frozen()).toEqual([]);
  });
});
