import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Exchange } from '#service/http/exchange.js';
import { LateRequests } from '#service/http/overload/late-requests.js';
import { createMemoryLog } from '../../../../support/memory-log.js';
import { newExchange } from '../new-exchange.js';

let closing: AbortController;
let logged: ReturnType<typeof createMemoryLog>;
let reasons: string[];
let late: LateRequests;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  closing = new AbortController();
  logged = createMemoryLog();
  reasons = [];
  const onRefusal = (reason: string) => void reasons.push(reason);
  late = new LateRequests({ log: logged.log, onRefusal, closing: closing.signal });
});
afterEach(() => void vi.useRealTimers());

it('a request that is late is refused with Retry-After, unless whoever asked is gone', () => {
  const { response } = refuse();
  expect([response.statusCode, response.writableEnded, reasons]).toEqual([503, true, ['overload']]);
  const gone = newExchange();
  gone.end();
  late.refuse(gone);
  expect([gone.response.headersSent, reasons]).toEqual([false, ['overload']]);
});

it('a connection is kept after it, and ended where the server closes', () => {
  expect(refuse().response.shouldKeepAlive).toBe(true);
  closing.abort();
  expect(refuse().response.shouldKeepAlive).toBe(false);
});

it('one line in the log tells of those of a second', () => {
  const told = () => logged.lines().map(({ requests }) => requests);
  for (let count = 0; count < 3; count += 1) refuse();
  vi.advanceTimersByTime(999);
  expect(told()).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(told()).toEqual([3]);
  refuse();
  vi.advanceTimersByTime(1000);
  expect(told()).toEqual([3, 1]);
});

function refuse(): Exchange {
  const exchange = newExchange();
  late.refuse(exchange);
  return exchange;
}
