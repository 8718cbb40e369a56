import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Exchange } from '#service/http/exchange.js';
import {
  ConcurrencyLimiter,
  type ConcurrencyLimiterOptions,
  type Permit,
} from '#service/http/overload/concurrency-limiter.js';
import { newExchange } from '../new-exchange.js';

// A request that arrives at 0 is late at 1000.
const limits = { backlogMilliseconds: 1000, minimumBacklog: 4 };
let now: number;
let limiter: ConcurrencyLimiter;
let refusals: number;

function open(options: Partial<ConcurrencyLimiterOptions> = {}): void {
  refusals = 0;
  const onOverload = () => {
    refusals += 1;
  };
  limiter = new ConcurrencyLimiter({
    limits,
    waitsForOthers: false,
    isProcessBusy: () => false,
    onOverload,
    ...options,
  });
}

beforeEach(() => {
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  open();
});
afterEach(() => void vi.restoreAllMocks());

/** Admits a request before authentication. */
function enter(exchange = newExchange()): Permit {
  return limiter.acquire(exchange);
}

function begin(client: string, exchange?: Exchange): Permit {
  const permit = enter(exchange);
  permit.admit(client);
  permit.pause();
  permit.resume();
  return permit;
}

function beginMany(count: number, client: string): Permit[] {
  return Array.from({ length: count }, () => begin(client));
}

/** Returns the number of further requests that the client may start before a refusal. */
function room(client: string): number {
  for (let begun = 0; begun < 1000; begun += 1) {
    try {
      begin(client);
    } catch (error) {
      expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      return begun;
    }
  }
  return Number.POSITIVE_INFINITY;
}

it('each client gets its fair share once the oldest request is late, and is unlimited before', () => {
  beginMany(4, 'ada');
  now = 999;
  begin('ada').release();
  now = 1000;
  expect(room('ada')).toBe(0);
  expect(room('ada')).toBe(0);
  expect(room('bob')).toBe(2);
  expect(room('carol')).toBe(1);
  expect(room('dan')).toBe(1);
  expect(refusals).toBe(5);
});

it('unauthenticated requests have no limit while nothing is late', () => {
  for (let count = 0; count < 20; count += 1) enter();
  now = 999;
  enter();
  expect(refusals).toBe(0);
});

it('unauthenticated requests are limited to what can complete in time', () => {
  for (let count = 0; count < 3; count += 1) enter();
  now = 1000;
  enter();
  expect(enter).toThrow(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }));
  expect(refusals).toBe(1);
});

it('a request that completes in time lifts the limit again, but a late request does not', () => {
  beginMany(4, 'ada');
  const [inTime, late] = beginMany(2, 'ada') as [Permit, Permit];
  now = 1000;
  inTime.complete();
  inTime.release();
  now = 1999;
  late.complete();
  late.release();
  begin('ada').release();
  now = 2000;
  expect(room('ada')).toBe(0);
});

it('the limit follows recent throughput, and decays after a stall', () => {
  const answered = beginMany(30, 'ada');
  now = 500;
  for (const permit of answered) {
    permit.complete();
    permit.release();
  }
  beginMany(29, 'ada');
  // The limit is 30, because 30 requests finished within one second. 29 slots are taken.
  now = 1500;
  expect(room('ada')).toBe(1);
  now = 1999;
  const ofBob = beginMany(15, 'bob');
  expect(room('bob')).toBe(0);
  for (const permit of ofBob) permit.release();
  now = 2000;
  expect(room('bob')).toBe(12);
});

it('the measured throughput decays with elapsed time, even if it is read rarely', () => {
  for (const permit of beginMany(40, 'ada')) {
    permit.complete();
    permit.release();
  }
  now = 500;
  const held = beginMany(4, 'ada');
  held[0]?.complete();
  // At first, 80 requests finished per second. The limit falls by a fifth in each of five windows.
  now = 3000;
  expect(room('ada')).toBe(Math.ceil(80 * 0.8 ** 5) - 4);
});

it('a waiting operation has no limit while the process is not busy', () => {
  let isBusy = false;
  open({ waitsForOthers: true, isProcessBusy: () => isBusy });
  beginMany(4, 'ada');
  now = 1000;
  begin('ada').release();
  isBusy = true;
  expect(room('ada')).toBe(0);
});

it('the duration of a pause does not count', () => {
  const paused = Array.from({ length: 4 }, enter);
  for (const permit of paused) permit.admit('ada');
  now = 500;
  for (const permit of paused) permit.pause();
  now = 5000;
  begin('ada').release();
  for (const permit of paused) permit.resume();
  now = 5499;
  begin('ada').release();
  now = 5500;
  expect(room('ada')).toBe(0);
});

it('a disconnect releases the permit of a request unless the request has begun', () => {
  const exchanges = Array.from({ length: 4 }, () => newExchange());
  const leaving = exchanges.map((exchange) => begin('ada', exchange));
  for (const exchange of exchanges) exchange.end();
  now = 1000;
  expect(room('ada')).toBe(0);
  for (const permit of leaving) permit.release();
  begin('ada').release();

  const leaver = newExchange();
  const gone = enter(leaver);
  gone.admit('gone');
  gone.pause();
  leaver.end();
  now = 1500;
  gone.resume();
  now = 5000;
  expect(room('ada')).toBe(Number.POSITIVE_INFINITY);
});

it('a request counts once, for its client, until it ends', () => {
  const permits = beginMany(5, 'ada');
  permits[0]?.release();
  permits[0]?.release();
  const leaver = newExchange();
  const left = enter(leaver);
  leaver.end();
  left.admit('left');
  const [first, second] = beginMany(2, 'bob');
  first?.release();
  for (const permit of beginMany(2, 'carol')) permit.release();
  now = 1000;
  expect(room('ada')).toBe(0);
  expect(room('bob')).toBe(1);
  second?.release();
  expect(room('bob')).toBe(1);
});
