import { describe, expect, it } from 'vitest';
import { createHashQueue } from '#server/membership/sign-in/hash-queue.js';

const by = (client: string) => ({ client, signal: new AbortController().signal });

/** Creates work that runs until the test ends it. */
function held() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((end) => void ends.push(end));
  };
  /** Ends the oldest running work, and waits until that has taken effect. */
  const end = async () => {
    ends.shift()?.();
    await new Promise((done) => setImmediate(done));
  };
  return { begun, work, end };
}

describe('the queue of password checks', () => {
  it('runs two checks at once and serves waiting clients round-robin', async () => {
    const { begun, work, end } = held();
    const line = createHashQueue();
    const all = ['x1', 'x2', 'x3', 'x4', 'y1', 'z1'].map((name) => line.run(by(name[0] ?? ''), work(name)));
    expect(begun).toEqual(['x1', 'x2']);
    for (let count = 0; count < 6; count++) await end();
    await Promise.all(all);
    expect(begun).toEqual(['x1', 'x2', 'x3', 'y1', 'z1', 'x4']);
  });

  it('continues after failed work', async () => {
    const line = createHashQueue();
    const failing = Array.from({ length: 4 }, () => line.run(by('x'), () => Promise.reject(new Error('no'))));
    for (const each of failing) await expect(each).rejects.toThrow('no');
    expect(await line.run(by('x'), async () => 'yes')).toBe('yes');
  });

  it('refuses a client’s fifth waiting check, but not another client’s first', async () => {
    const { begun, work, end } = held();
    const line = createHashQueue();
    const all = Array.from({ length: 6 }, (_, index) => line.run(by('x'), work(`x${index}`)));
    await expect(line.run(by('x'), work('x6'))).rejects.toMatchObject({ code: 'RATE_LIMIT_HIT' });
    all.push(line.run(by('y'), work('y')));
    for (let count = 0; count < 7; count++) await end();
    await Promise.all(all);
    expect(begun).toHaveLength(7);
  });

  it('skips aborted checks', async () => {
    const { begun, work, end } = held();
    const line = createHashQueue();
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

  it('refuses all clients when the queue is full', async () => {
    const { work, end } = held();
    const line = createHashQueue();
    const all = Array.from({ length: 66 }, (_, index) => line.run(by(`client ${index}`), work('')));
    await expect(line.run(by('one more'), work(''))).rejects.toMatchObject({ code: 'RATE_LIMIT_HIT' });
    for (let count = 0; count < 66; count++) await end();
    await Promise.all(all);
  });
});
