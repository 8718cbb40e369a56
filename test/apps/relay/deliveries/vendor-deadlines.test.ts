import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Tries, VendorDeadlines } from '#relay/deliveries/requests/vendor-deadlines.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const budget = 1000;

function tries(underWay: number): Tries {
  const begun = new Tries();
  for (let count = 0; count < underWay; count += 1) begun.begin();
  return begun;
}

/** Records the name of a wait when it ends. */
function noteEnds(waits: VendorDeadlines) {
  const ended: string[] = [];
  const begin = (name: string, begun: Tries): void => void waits.wait(begun)?.then(() => ended.push(name));
  return { ended, begin };
}

describe('the deadlines of vendor requests', () => {
  it('end with the last attempt', async () => {
    const { ended, begin } = noteEnds(new VendorDeadlines(budget));
    const two = tries(2);
    begin('two', two);
    two.end();
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toEqual([]);
    two.end();
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toEqual(['two']);
  });

  it('end each when its own budget is spent, with one timer for all of them', async () => {
    const { ended, begin } = noteEnds(new VendorDeadlines(budget));
    const quick = tries(1);
    begin('quick', quick);
    await vi.advanceTimersByTimeAsync(400);
    begin('first', tries(1));
    await vi.advanceTimersByTimeAsync(400);
    begin('second', tries(1));
    expect(vi.getTimerCount()).toBe(1);
    quick.end();
    await vi.advanceTimersByTimeAsync(599);
    expect(ended).toEqual(['quick']);
    await vi.advanceTimersByTimeAsync(2);
    expect(ended).toEqual(['quick', 'first']);
    await vi.advanceTimersByTimeAsync(400);
    expect(ended).toEqual(['quick', 'first', 'second']);
    expect(vi.getTimerCount()).toBe(0);
    begin('later', tries(1));
    await vi.advanceTimersByTimeAsync(budget);
    expect(ended.at(-1)).toBe('later');
  });

  it('end at once on shutdown, and none begins after that', async () => {
    const waits = new VendorDeadlines(budget);
    const { ended, begin } = noteEnds(waits);
    begin('one', tries(1));
    waits.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(ended).toEqual(['one']);
    expect(waits.wait(tries(1))).toBeUndefined();
  });

  it('need no timer while nothing is in flight', () => {
    expect(new VendorDeadlines(budget).wait(tries(0))).toBeUndefined();
  });
});
