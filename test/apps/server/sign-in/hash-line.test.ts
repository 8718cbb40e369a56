import { describe, expect, it } from 'vitest';
import { HashLine } from '#server/sign-in/hash-line.js';

/** Work that is done when somebody says so. */
function held() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((end) => void ends.push(end));
  };
  /** Ends what has begun first, and waits for what follows from it. */
  const end = async () => {
    ends.shift()?.();
    await new Promise((done) => setImmediate(done));
  };
  return { begun, work, end };
}

describe('the line of passwords to check', () => {
  it('does two at once, and of those who wait one of each in turn', async () => {
    const { begun, work, end } = held();
    const line = new HashLine();
    const all = ['x1', 'x2', 'x3', 'x4', 'y1', 'z1'].map((name) => line.run(name[0] ?? '', work(name)));
    expect(begun).toEqual(['x1', 'x2']);
    for (let count = 0; count < 6; count++) await end();
    await Promise.all(all);
    expect(begun).toEqual(['x1', 'x2', 'x3', 'y1', 'z1', 'x4']);
  });

  it('goes on after work that failed', async () => {
    const line = new HashLine();
    const failing = Array.from({ length: 4 }, () => line.run('x', () => Promise.reject(new Error('no'))));
    for (const each of failing) await expect(each).rejects.toThrow('no');
    expect(await line.run('x', async () => 'yes')).toBe('yes');
  });

  it('refuses the fifth who waits of one sender, and not the first of another', async () => {
    const { begun, work, end } = held();
    const line = new HashLine();
    const all = Array.from({ length: 6 }, (_, index) => line.run('x', work(`x${index}`)));
    await expect(line.run('x', work('x6'))).rejects.toMatchObject({ code: 'RATE_LIMIT_HIT' });
    all.push(line.run('y', work('y')));
    for (let count = 0; count < 7; count++) await end();
    await Promise.all(all);
    expect(begun).toHaveLength(7);
  });

  it('refuses everybody when very many wait', async () => {
    const { work, end } = held();
    const line = new HashLine();
    const all = Array.from({ length: 66 }, (_, index) => line.run(`sender ${index}`, work('')));
    await expect(line.run('one more', work(''))).rejects.toMatchObject({ code: 'RATE_LIMIT_HIT' });
    for (let count = 0; count < 66; count++) await end();
    await Promise.all(all);
  });
});
