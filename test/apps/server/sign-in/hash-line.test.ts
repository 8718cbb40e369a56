import { describe, expect, it } from 'vitest';
import { newHashLine } from '#server/sign-in/hash-line.js';

const by = (client: string) => ({ client, signal: new AbortController().signal });

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
    const line = newHashLine();
    const all = ['x1', 'x2', 'x3', 'x4', 'y1', 'z1'].map((name) => line.run(by(name[0] ?? ''), work(name)));
    expect(begun).toEqual(['x1', 'x2']);
    for (let count = 0; count < 6; count++) await end();
    await Promise.all(all);
    expect(begun).toEqual(['x1', 'x2', 'x3', 'y1', 'z1', 'x4']);
  });

  it('goes on after work that failed', async () => {
    const line = newHashLine();
    const failing = Array.from({ length: 4 }, () => line.run(by('x'), () => Promise.reject(new Error('no'))));
    for (const each of failing) await expect(each).rejects.toThrow('no');
    expect(await line.run(by('x'), async () => 'yes')).toBe('yes');
  });

  it('refuses the fifth who waits of one sender, and not the first of another', async () => {
    const { begun, work, end } = held();
    const line = newHashLine();
    const all = Array.from({ length: 6 }, (_, index) => line.run(by('x'), work(`x${index}`)));
    await expect(line.run(by('x'), work('x6'))).rejects.toMatchObject({ code: 'RATE_LIMIT_HIT' });
    all.push(line.run(by('y'), work('y')));
    for (let count = 0; count < 7; count++) await end();
    await Promise.all(all);
    expect(begun).toHaveLength(7);
  });

  it('does not begin what nobody waits for any more when its turn comes', async () => {
    const { begun, work, end } = held();
    const line = newHashLine();
    const leaving = new AbortController();
    const all = ['x', 'y'].map((name) => line.run(by(name), work(name)));
    const left = line.run({ client: 'z', signal: leaving.signal }, work('z'));
    const refused = expect(left).rejects.toThrow('aborted');
    leaving.abort();
    for (let count = 0; count < 2; count++) await end();
    await refused;
    await Promise.all(all);
    expect(begun).toEqual(['x', 'y']);
  });

  it('refuses everybody when very many wait', async () => {
    const { work, end } = held();
    const line = newHashLine();
    const all = Array.from({ length: 66 }, (_, index) => line.run(by(`client ${index}`), work('')));
    await expect(line.run(by('one more'), work(''))).rejects.toMatchObject({ code: 'RATE_LIMIT_HIT' });
    for (let count = 0; count < 66; count++) await end();
    await Promise.all(all);
  });
});
