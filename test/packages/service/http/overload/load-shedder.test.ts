import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Exchange } from '#service/http/exchange.js';
import { LoadShedder } from '#service/http/overload/load-shedder.js';
import { createMemoryLog } from '../../../../support/memory-log.js';
import { newExchange } from '../new-exchange.js';

let closing: AbortController;
let logged: ReturnType<typeof createMemoryLog>;
let reasons: string[];
let shedder: LoadShedder;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  closing = new AbortController();
  logged = createMemoryLog();
  reasons = [];
  const onRefusal = (reason: string) => void reasons.push(reason);
  shedder = new LoadShedder({ log: logged.log, onRefusal, closing: closing.signal });
});
afterEach(() => void vi.useRealTimers());

it('a shed request gets a 503 with Retry-After, unless its client has disconnected', () => {
  const { response } = refuse();
  expect([response.statusCode, response.writableEnded, reasons]).toEqual([503, true, ['overload']]);
  const gone = newExchange();
  gone.end();
  shedder.refuse(gone);
  expect([gone.response.headersSent, reasons]).toEqual([false, ['overload']]);
});

it('the connection of a shed request is kept alive, except while the server closes', () => {
  expect(refuse().response.shouldKeepAlive).toBe(true);
  closing.abort();
  expect(refuse().response.shouldKeepAlive).toBe(false);
});

it('one log line per second counts the shed requests', () => {
  const counts = () => logged.lines().map(({ requests }) => requests);
  for (let count = 0; count < 3; count += 1) refuse();
  vi.advanceTimersByTime(999);
  expect(counts()).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(counts()).toEqual([3]);
  refuse();
  vi.advanceTimersByTime(1000);
  expect(counts()).toEqual([3, 1]);
});

function refuse(): Exchange {
  const exchange = newExchange();
  shedder.refuse(exchange);
  return exchange;
}
