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

/** Returns a function that begins a named wait, and the names of the waits that have ended. */
function noteEnds(waits: VendorDeadlines) {
  const ended: string[] = [];
  const begin = (name: string, begun: Tries): void => void waits.wait(begun)?.then(() => ended.push(name));
  return { ended, begin };
}

describe('the waits for vendors', () => {
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

  it('each end when their own budget is spent, with a common timer', async () => {
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

  it('end immediately on shutdown, after which none begins', async () => {
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
