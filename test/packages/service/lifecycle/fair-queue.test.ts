import { FairQueue } from '@waxwing/service/lifecycle';
import { describe, expect, it } from 'vitest';

/** Creates work that runs until the test ends it. */
function held() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve) => ends.push(() => resolve(name)));
  };
  const endNext = async () => {
    ends.shift()?.();
    await new Promise((done) => setImmediate(done));
  };
  return { begun, work, endNext };
}

describe('a fair queue', () => {
  it('limits concurrency, counts pending work, and rotates over clients', async () => {
    const { begun, work, endNext } = held();
    const queue = new FairQueue(2);
    const all = ['x1', 'x2', 'x3', 'x4', 'x5', 'y1', 'y2', 'z1'].map((name) =>
      queue.run(name.charAt(0), work(name)),
    );
    expect([begun, queue.pending, queue.pendingOf('x'), queue.pendingOf('other')]).toEqual([
      ['x1', 'x2'],
      ...[6, 3, 0],
    ]);
    await endNext();
    await endNext();
    expect([begun.slice(2), queue.pending, queue.pendingOf('x')]).toEqual([['x3', 'y1'], 4, 2]);
    for (let count = 0; count < 6; count++) await endNext();
    expect(begun).toEqual(['x1', 'x2', 'x3', 'y1', 'z1', 'x4', 'y2', 'x5']);
    expect(await Promise.all(all)).toHaveLength(8);
    expect([queue.pending, queue.pendingOf('x'), queue.pendingOf('y')]).toEqual([0, 0, 0]);
  });

  it('has all its slots again once it is empty, even after failed work', async () => {
    const { begun, work, endNext } = held();
    const queue = new FairQueue(2);
    for (let round = 0; round < 3; round++) {
      const failing = Array.from({ length: 4 }, () => queue.run('x', () => Promise.reject(new Error('no'))));
      for (const each of failing) await expect(each).rejects.toThrow('no');
    }
    const all = ['x1', 'x2', 'x3'].map((name) => queue.run('x', work(name)));
    expect(begun).toEqual(['x1', 'x2']);
    for (let count = 0; count < 3; count++) await endNext();
    expect(await Promise.all(all)).toEqual(['x1', 'x2', 'x3']);
  });

  it('takes O(1) per item, even if one client has many items', async () => {
    const millisecondsOf = async (count: number) => {
      const queue = new FairQueue(1);
      const all = Array.from({ length: count }, () => queue.run('x', async () => undefined));
      const before = process.cpuUsage();
      await Promise.all(all);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };
    await millisecondsOf(10_000);
    // If each item copied the queue, the longer queue would take a hundred times as long.
    expect(await millisecondsOf(100_000)).toBeLessThan(40 * (await millisecondsOf(10_000)) + 200);
  });
});
