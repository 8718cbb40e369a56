import { ProtocolError } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import { maximumServers, ServerQuotas } from '#relay/servers/server-quotas.js';

const noon = Date.UTC(2026, 0, 5, 12);

function quotasUnderTest(perMinute: number) {
  const time = { now: noon };
  const quotas = new ServerQuotas(perMinute, () => time.now);
  const isTaken = (serverId: string, cost = 1): boolean => retryAfter(serverId, cost) === undefined;
  const retryAfter = (serverId: string, cost = 1): number | undefined => {
    try {
      quotas.take(serverId, cost);
      return undefined;
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      return error.retryAfterSeconds;
    }
  };
  return { time, quotas, isTaken, retryAfter };
}

describe("a server's quota", () => {
  it('fills up evenly, to no more than a full one', () => {
    const { time, isTaken, retryAfter } = quotasUnderTest(60);
    expect([isTaken('a', 60), isTaken('a')]).toEqual([true, false]);
    time.now += 10_000;
    expect([isTaken('a', 10), retryAfter('a', 5)]).toEqual([true, 5]);
    time.now += 3_600_000;
    expect([isTaken('a', 60), isTaken('a'), isTaken('b')]).toEqual([true, false, true]);
  });

  it('lets a request through that is larger than itself when it is full, and takes its time afterwards', () => {
    const { isTaken, retryAfter } = quotasUnderTest(60);
    expect([isTaken('a', 180), retryAfter('a', 1)]).toEqual([true, 121]);
  });

  it('is collected once, in milliseconds of filling up, and what is less than one is carried over', () => {
    const { quotas } = quotasUnderTest(600_000);
    quotas.take('a', 25);
    quotas.take('b', 3);
    expect(quotas.collect()).toEqual([{ serverId: 'a', usedMilliseconds: 2 }]);
    expect(quotas.collect()).toEqual([]);
    quotas.take('a', 5);
    quotas.take('b', 8);
    expect(quotas.collect()).toEqual([
      { serverId: 'a', usedMilliseconds: 1 },
      { serverId: 'b', usedMilliseconds: 1 },
    ]);
  });

  it('is not collected for what was refused', () => {
    const { quotas, isTaken } = quotasUnderTest(60);
    expect([isTaken('a', 60), isTaken('a', 30)]).toEqual([true, false]);
    expect(quotas.collect()).toEqual([{ serverId: 'a', usedMilliseconds: 60_000 }]);
  });

  it('shrinks to what all have left, less what was not told yet', () => {
    const { quotas, isTaken, retryAfter } = quotasUnderTest(60);
    quotas.take('a', 10);
    quotas.collect();
    quotas.take('a', 5);
    quotas.adopt([{ serverId: 'a', usedMilliseconds: 40_000 }], noon);
    expect([retryAfter('a', 16), isTaken('a', 15)]).toEqual([1, true]);
  });

  it('does not grow by what others say', () => {
    const { quotas, isTaken } = quotasUnderTest(60);
    quotas.take('a', 60);
    quotas.collect();
    quotas.adopt([{ serverId: 'a', usedMilliseconds: 0 }], noon);
    expect(isTaken('a')).toBe(false);
  });

  it('is known to be used by others before the first request', () => {
    const { time, quotas, retryAfter, isTaken } = quotasUnderTest(60);
    quotas.adopt([{ serverId: 'a', usedMilliseconds: 90_000 }], noon);
    expect(retryAfter('a')).toBe(31);
    time.now += 31_000;
    expect([isTaken('a'), isTaken('a')]).toEqual([true, false]);
  });

  it('fills up also while what others took is being read', () => {
    const { time, quotas, retryAfter, isTaken } = quotasUnderTest(60);
    time.now += 31_000;
    quotas.adopt([{ serverId: 'a', usedMilliseconds: 90_000 }], noon);
    expect([isTaken('a'), retryAfter('a')]).toEqual([true, 1]);
    quotas.collect();
    time.now += 3_600_000;
    quotas.adopt([{ serverId: 'a', usedMilliseconds: 90_000 }], noon);
    expect([isTaken('a', 60), isTaken('a')]).toEqual([true, false]);
  });

  it('is remembered for a bounded number of servers, those that asked last', () => {
    const { quotas, isTaken } = quotasUnderTest(1);
    for (let index = 0; index < maximumServers; index += 1) quotas.take(`server ${index}`, 1);
    quotas.adopt([{ serverId: 'of others', usedMilliseconds: 60_000 }], noon);
    expect(quotas.collect()).toHaveLength(maximumServers - 1);
    expect([isTaken('of others'), isTaken('server 9999'), isTaken('server 0')]).toEqual([false, false, true]);
  });

  it('is kept for a server that asks often, however many others came since it began', () => {
    const { quotas, isTaken } = quotasUnderTest(1);
    for (let index = 0; index < maximumServers; index += 1) quotas.take(`server ${index}`, 1);
    expect([isTaken('server 0'), isTaken('one more')]).toEqual([false, true]);
    expect([isTaken('server 0'), isTaken('server 1')]).toEqual([false, true]);
  });
});
