import { FairLine } from '@waxwing/service/lifecycle';
import { describe, expect, it } from 'vitest';

/** Work that ends when somebody says so. */
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

describe('a fair line', () => {
  it('does so much at once, counts what waits, and gives each sender its turn', async () => {
    const { begun, work, endNext } = held();
    const line = new FairLine(2);
    const all = ['x1', 'x2', 'x3', 'x4', 'x5', 'y1', 'y2', 'z1'].map((name) =>
      line.run(name.charAt(0), work(name)),
    );
    expect([begun, line.waiting, line.waitingOf('x'), line.waitingOf('nobody')]).toEqual([
      ['x1', 'x2'],
      ...[6, 3, 0],
    ]);
    await endNext();
    await endNext();
    expect([begun.slice(2), line.waiting, line.waitingOf('x')]).toEqual([['x3', 'y1'], 4, 2]);
    for (let count = 0; count < 6; count++) await endNext();
    expect(begun).toEqual(['x1', 'x2', 'x3', 'y1', 'z1', 'x4', 'y2', 'x5']);
    expect(await Promise.all(all)).toHaveLength(8);
    expect([line.waiting, line.waitingOf('x'), line.waitingOf('y')]).toEqual([0, 0, 0]);
  });

  it('has all its places again when nobody waits, also after work that failed', async () => {
    const { begun, work, endNext } = held();
    const line = new FairLine(2);
    for (let round = 0; round < 3; round++) {
      const failing = Array.from({ length: 4 }, () => line.run('x', () => Promise.reject(new Error('no'))));
      for (const each of failing) await expect(each).rejects.toThrow('no');
    }
    const all = ['x1', 'x2', 'x3'].map((name) => line.run('x', work(name)));
    expect(begun).toEqual(['x1', 'x2']);
    for (let count = 0; count < 3; count++) await endNext();
    expect(await Promise.all(all)).toEqual(['x1', 'x2', 'x3']);
  });

  it('hands on in the same time, however long the line of one sender is', async () => {
    const millisecondsOf = async (count: number) => {
      const line = new FairLine(1);
      const all = Array.from({ length: count }, () => line.run('x', async () => undefined));
      const before = process.cpuUsage();
      await Promise.all(all);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };
    await millisecondsOf(10_000);
    // Copied at each turn, the longer line would take a hundred times as long.
    expect(await millisecondsOf(100_000)).toBeLessThan(40 * (await millisecondsOf(10_000)) + 200);
  });
});
