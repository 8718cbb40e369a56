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
  it('refills evenly, up to a full quota', () => {
    const { time, isTaken, retryAfter } = quotasUnderTest(60);
    expect([isTaken('a', 60), isTaken('a')]).toEqual([true, false]);
    time.now += 10_000;
    expect([isTaken('a', 10), retryAfter('a', 5)]).toEqual([true, 5]);
    time.now += 3_600_000;
    expect([isTaken('a', 60), isTaken('a'), isTaken('b')]).toEqual([true, false, true]);
  });

  it('admits a request larger than a full quota, and then needs longer to refill', () => {
    const { isTaken, retryAfter } = quotasUnderTest(60);
    expect([isTaken('a', 180), retryAfter('a', 1)]).toEqual([true, 121]);
  });

  it('is listed by usage, highest first, unless it is full', () => {
    const { quotas, time } = quotasUnderTest(60);
    for (const [serverId, cost] of [
      ['a', 15] as const,
      ['b', 90] as const,
      ['c', 45] as const,
      ['d', 1] as const,
    ])
      quotas.take(serverId, cost);
    time.now += 1000;
    const used = (count: number) =>
      quotas.busiest(count).map(({ serverId, ratio }) => [serverId, Math.round(ratio * 60)]);
    expect(used(2)).toEqual([
      ['b', 89],
      ['c', 44],
    ]);
    expect(used(10)).toEqual([
      ['b', 89],
      ['c', 44],
      ['a', 14],
    ]);
  });

  it('is collected once, in milliseconds of refill, and the remainder carries over', () => {
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

  it('does not include refused requests when it is collected', () => {
    const { quotas, isTaken } = quotasUnderTest(60);
    expect([isTaken('a', 60), isTaken('a', 30)]).toEqual([true, false]);
    expect(quotas.collect()).toEqual([{ serverId: 'a', usedMilliseconds: 60_000 }]);
  });

  it('shrinks to what all processes have left, minus usage that is not collected yet', () => {
    const { quotas, isTaken, retryAfter } = quotasUnderTest(60);
    quotas.take('a', 10);
    quotas.collect();
    quotas.take('a', 5);
    quotas.adopt([{ serverId: 'a', usedMilliseconds: 40_000 }], noon);
    expect([retryAfter('a', 16), isTaken('a', 15)]).toEqual([1, true]);
  });

  it('does not grow from the counts of other processes', () => {
    const { quotas, isTaken } = quotasUnderTest(60);
    quotas.take('a', 60);
    quotas.collect();
    quotas.adopt([{ serverId: 'a', usedMilliseconds: 0 }], noon);
    expect(isTaken('a')).toBe(false);
  });

  it('includes the usage of other processes before the first request', () => {
    const { time, quotas, retryAfter, isTaken } = quotasUnderTest(60);
    quotas.adopt([{ serverId: 'a', usedMilliseconds: 90_000 }], noon);
    expect(retryAfter('a')).toBe(31);
    time.now += 31_000;
    expect([isTaken('a'), isTaken('a')]).toEqual([true, false]);
  });

  it('refills while the counts of other processes are being read', () => {
    const { time, quotas, retryAfter, isTaken } = quotasUnderTest(60);
    time.now += 31_000;
    quotas.adopt([{ serverId: 'a', usedMilliseconds: 90_000 }], noon);
    expect([isTaken('a'), retryAfter('a')]).toEqual([true, 1]);
    quotas.collect();
    time.now += 3_600_000;
    quotas.adopt([{ serverId: 'a', usedMilliseconds: 90_000 }], noon);
    expect([isTaken('a', 60), isTaken('a')]).toEqual([true, false]);
  });

  it('is stored only for the most recently active servers', () => {
    const { quotas, isTaken } = quotasUnderTest(1);
    for (let index = 0; index < maximumServers; index += 1) quotas.take(`server ${index}`, 1);
    quotas.adopt([{ serverId: 'of others', usedMilliseconds: 60_000 }], noon);
    expect(quotas.collect()).toHaveLength(maximumServers - 1);
    expect([isTaken('of others'), isTaken('server 9999'), isTaken('server 0')]).toEqual([false, false, true]);
  });

  it('is kept for a busy server, regardless of the number of other servers', () => {
    const { quotas, isTaken } = quotasUnderTest(1);
    for (let index = 0; index < maximumServers; index += 1) quotas.take(`server ${index}`, 1);
    expect([isTaken('server 0'), isTaken('one more')]).toEqual([false, true]);
    expect([isTaken('server 0'), isTaken('server 1')]).toEqual([false, true]);
  });
});
