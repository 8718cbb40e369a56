import { performance } from 'node:perf_hooks';
import { afterEach, expect, it, vi } from 'vitest';
import { watchEventLoop } from '#service/http/overload/watch-event-loop.js';

afterEach(() => void vi.restoreAllMocks());

it('the process is busy if its event loop was saturated in the last 200 ms', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const isBusy = watchEventLoop();
  const keepBusy = () => {
    const until = Date.now() + 50;
    while (Date.now() < until);
  };
  keepBusy();
  now = 199;
  expect(isBusy()).toBe(false);
  now = 200;
  expect(isBusy()).toBe(true);
  const sinceThen = performance.eventLoopUtilization();
  await vi.waitUntil(() => performance.eventLoopUtilization(sinceThen).utilization < 0.5);
  now = 399;
  expect(isBusy()).toBe(true);
  now = 400;
  expect(isBusy()).toBe(false);
  keepBusy();
  now = 600;
  expect(isBusy()).toBe(true);
});
