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

  it('admits a request larger than the quota when it is full, and needs longer to refill', () => {
    const { isTaken, retryAfter } = quotasUnderTest(60);
    expect([isTaken('a', 180), retryAfter('a', 1)]).toEqual([true, 121]);
  });

  it('is listed by its used part, the most used first, without full ones', () => {
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

  it('is collected once, in milliseconds of refill, and carries the remainder over', () => {
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

  it('is not collected for refused requests', () => {
    const { quotas, isTaken } = quotasUnderTest(60);
    expect([isTaken('a', 60), isTaken('a', 30)]).toEqual([true, false]);
    expect(quotas.collect()).toEqual([{ serverId: 'a', usedMilliseconds: 60_000 }]);
  });

  it('shrinks to what all processes have left, minus uses that are not exchanged yet', () => {
    const { quotas, isTaken, retryAfter } = quotasUnderTest(60);
    quotas.take('a', 10);
    quotas.collect();
    quotas.take('a', 5);
    quotas.adopt([{ serverId: 'a', usedMilliseconds: 40_000 }], noon);
    expect([retryAfter('a', 16), isTaken('a', 15)]).toEqual([1, true]);
  });

  it('does not grow from other processes’ counts', () => {
    const { quotas, isTaken } = quotasUnderTest(60);
    quotas.take('a', 60);
    quotas.collect();
    quotas.adopt([{ serverId: 'a', usedMilliseconds: 0 }], noon);
    expect(isTaken('a')).toBe(false);
  });

  it('knows the uses of other processes before the first request', () => {
    const { time, quotas, retryAfter, isTaken } = quotasUnderTest(60);
    quotas.adopt([{ serverId: 'a', usedMilliseconds: 90_000 }], noon);
    expect(retryAfter('a')).toBe(31);
    time.now += 31_000;
    expect([isTaken('a'), isTaken('a')]).toEqual([true, false]);
  });

  it('refills while the counts of others are being read', () => {
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

  it('is kept for a busy server, however many others came later', () => {
    const { quotas, isTaken } = quotasUnderTest(1);
    for (let index = 0; index < maximumServers; index += 1) quotas.take(`server ${index}`, 1);
    expect([isTaken('server 0'), isTaken('one more')]).toEqual([false, true]);
    expect([isTaken('server 0'), isTaken('server 1')]).toEqual([false, true]);
  });
});
