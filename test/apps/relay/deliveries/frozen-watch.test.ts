import { beforeEach, describe, expect, it } from 'vitest';
import { FrozenWatch } from '#relay/deliveries/breakers/frozen-watch.js';

const minute = 60_000;
let watch: FrozenWatch;
beforeEach(() => {
  watch = new FrozenWatch({ app: 'app', scope: 'realm 1', since: 1000, lastsMilliseconds: 500 });
});
function count(sent: number, dead: number): void {
  for (let each = 0; each < sent; each += 1) watch.count('sent');
  for (let each = 0; each < dead; each += 1) watch.count('dead');
}

describe('a watch over frozen deletions', () => {
  it('ends after its duration, and restarts with empty counts', () => {
    expect([watch.app, watch.scope, watch.lastsMilliseconds]).toEqual(['app', 'realm 1', 500]);
    expect([watch.isOver(1499), watch.isOver(1500)]).toEqual([false, true]);
    count(0, 3);
    expect(watch.begin(1500)).toBe(1000);
    expect([watch.isOver(1999), watch.isOver(2000)]).toEqual([false, true]);
    count(0, 2);
    expect(watch.wasUsual(0)).toBe(true);
    count(0, 1);
    expect(watch.wasUsual(0)).toBe(false);
    expect(watch.begin(2000)).toBe(1500);
    // All tokens since the restart are dead, which is not usual.
    count(0, 3);
    expect(watch.wasUsual(0.9)).toBe(false);
  });

  it('treats fewer than three dead tokens or a small share of them as usual', () => {
    count(0, 2);
    expect(watch.wasUsual(0)).toBe(true);
    count(3, 1);
    expect([watch.wasUsual(0.49), watch.wasUsual(0.5), watch.wasUsual(0.51)]).toEqual([false, true, true]);
    count(3, 0);
    expect(watch.wasUsual(0.34)).toBe(true);
  });

  it('counts each account and each phone once as sent and once as dead per period', () => {
    const ada = { account: 'ada', phone: '1' };
    const first = () => [
      watch.isFirst('dead', ada),
      watch.isFirst('sent', ada),
      watch.isFirst('dead', { account: 'ada', phone: '2' }),
      watch.isFirst('sent', { account: 'bob', phone: '1' }),
      // An account and a phone may have the same name.
      watch.isFirst('dead', { account: '1', phone: 'ada' }),
      watch.isFirst('dead', { account: 'bob', phone: '2' }),
      watch.isFirst('dead', ada),
      watch.isFirst('sent', ada),
    ];
    const once = [true, true, false, false, true, true, false, false];
    expect(first()).toEqual(once);
    watch.begin(1500);
    expect(first()).toEqual(once);
  });

  it('counts accounts and phones beyond its capacity only as dead', () => {
    // Each number is a new account and a new phone, so 10,000 numbers fill a set of 20,000 names.
    for (const kind of ['sent', 'dead'] as const) {
      const isFirst = (number: number) =>
        watch.isFirst(kind, { account: String(number), phone: String(number) });
      for (let number = 1; number < 10_000; number += 1) isFirst(number);
      expect(isFirst(10_000)).toBe(true);
      expect([isFirst(10_001), isFirst(10_001), isFirst(10_000)]).toEqual(
        kind === 'dead' ? [true, true, false] : [false, false, false],
      );
    }
  });

  it('renews the freeze at most once per 15 minutes, even if the clock jumps', () => {
    const told = 100 * minute;
    count(0, 2);
    expect(watch.mustLock(0.5, told)).toBe(false);
    count(0, 1);
    expect(watch.mustLock(0.5, told)).toBe(true);
    expect(watch.mustLock(0.5, told + 15 * minute - 1)).toBe(false);
    expect(watch.mustLock(0.5, told - 15 * minute + 1)).toBe(false);
    expect(watch.mustLock(0.5, told + 15 * minute)).toBe(true);
    expect(watch.mustLock(0.5, told)).toBe(true);
  });

  it('recognizes a freeze that another process has renewed', () => {
    expect([watch.isLockedByOther(1001, 1000), watch.isLockedByOther(1000, 1000)]).toEqual([true, false]);
    count(0, 3);
    watch.mustLock(0.5, 1001);
    expect([watch.isLockedByOther(1001, 1000), watch.isLockedByOther(1002, 1000)]).toEqual([false, true]);
  });
});
