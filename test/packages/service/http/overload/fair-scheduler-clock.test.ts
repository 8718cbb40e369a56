import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FairScheduler, type SchedulerLimits } from '#service/http/overload/fair-scheduler.js';
import { atEndOfTick } from '#service/lifecycle/end-of-tick.js';

const patient = { backlogMilliseconds: 60_000, minimumBacklog: 1 };
let now: number;
let immediates: (() => void)[];
/** The timer for the scheduler's current pause, if any. */
let timer: { readonly task: () => void; readonly due: number } | undefined;
let begun: string[];
let refused: string[];

beforeEach(() => {
  now = 1000;
  [immediates, begun, refused] = [[], [], []];
  timer = undefined;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.stubGlobal('setImmediate', (task: () => void) => void immediates.push(task));
  vi.stubGlobal('setTimeout', (task: () => void, after: number) => {
    timer = { task, due: now + after };
    return 1;
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Advances the clock until the scheduler's timer is due, if there is one, and runs it. */
function endPause(): void {
  if (timer === undefined) return;
  const { task, due } = timer;
  timer = undefined;
  now = Math.max(now, due);
  task();
}

/** Runs one tick: the pending immediates, but not those that they add. */
function runTick(): void {
  for (const task of immediates.splice(0)) task();
}

/** Creates a scheduler that does not pause Ada, because no other client has run for a second. */
function schedulerOfOne(limits: SchedulerLimits): FairScheduler {
  const scheduler = new FairScheduler(limits);
  scheduler.schedule(() => undefined, { isPipelined: false, client: 'ada' });
  runTick();
  runTick();
  now += 1001;
  return scheduler;
}

/** Schedules tasks for Ada that take `milliseconds` each. */
function beginMany(scheduler: FairScheduler, count: number, milliseconds: number, isRefusable = false): void {
  for (let number = 1; number <= count; number += 1) {
    const task = () => {
      begun.push(`${number}`);
      now += milliseconds;
    };
    const refuse = isRefusable ? () => void refused.push(`${number}`) : undefined;
    scheduler.schedule(task, { isPipelined: false, client: 'ada', refuse });
  }
}

it('a tick ends with the task that reaches its tenth millisecond', () => {
  beginMany(new FairScheduler(patient), 5, 5);
  runTick();
  expect(begun).toEqual(['1', '2']);
  runTick();
  expect(begun).toEqual(['1', '2', '3', '4']);
  runTick();
  expect(begun).toHaveLength(5);
});

it('a tick has at most 256 tasks', () => {
  beginMany(new FairScheduler(patient), 600, 0);
  runTick();
  expect(begun).toHaveLength(256);
  runTick();
  expect(begun).toHaveLength(512);
  runTick();
  expect(begun).toHaveLength(600);
  for (let tick = 0; tick < 3; tick += 1) runTick();
  expect(immediates).toEqual([]);
});

const counts = () => [begun.length, refused.length];

it('expired requests are refused until few are queued: oldest first, eight per task', () => {
  const scheduler = schedulerOfOne({ backlogMilliseconds: 100, minimumBacklog: 4 });
  beginMany(scheduler, 40, 10, true);
  now += 100;
  runTick();
  expect(counts()).toEqual([1, 0]);
  runTick();
  expect(counts()).toEqual([2, 8]);
  expect(refused).toEqual(Array.from({ length: 8 }, (_, index) => `${index + 2}`));
  expect(begun[1]).toBe('10');
  runTick();
  runTick();
  expect(counts()).toEqual([4, 24]);
  runTick();
  expect(counts()).toEqual([5, 32]);
  for (let tick = 0; tick < 5; tick += 1) runTick();
  expect(counts()).toEqual([8, 32]);
});

/** Creates a scheduler with `left` queued tasks of Ada and a measured pace of `milliseconds` per task. */
function slowQueue(left: number, milliseconds = 10): FairScheduler {
  const scheduler = schedulerOfOne({ backlogMilliseconds: 200, minimumBacklog: 4 });
  const perTick = Math.max(1, 10 / milliseconds);
  beginMany(scheduler, left + 30 * perTick, milliseconds);
  while (begun.length < 30 * perTick) {
    runTick();
    endPause();
  }
  expect(begun).toHaveLength(30 * perTick);
  [begun, refused] = [[], []];
  return scheduler;
}

const beginBob = (scheduler: FairScheduler) =>
  scheduler.schedule(() => void begun.push('bob'), {
    isPipelined: false,
    client: 'bob',
    refuse: () => void refused.push('bob'),
  });

it('a request is refused immediately if too many of its client’s requests precede it', () => {
  const scheduler = slowQueue(7);
  beginMany(scheduler, 20, 10, true);
  expect(20 - refused.length).toBeGreaterThanOrEqual(3);
  expect(20 - refused.length).toBeLessThanOrEqual(5);
  beginBob(scheduler);
  expect(refused).not.toContain('bob');
  for (let tick = 0; tick < 3; tick += 1) runTick();
  expect(begun).toContain('bob');
});

it('the estimated wait includes the requests of the other clients in the rotation', () => {
  const scheduler = slowQueue(9);
  for (let count = 0; count < 2; count += 1) beginBob(scheduler);
  beginMany(scheduler, 1, 10, true);
  expect(refused).toEqual(['1']);
});

it('no request is refused immediately while few requests are queued, even if they are slow', () => {
  const scheduler = slowQueue(4, 1000);
  beginMany(scheduler, 1, 1000, true);
  expect(refused).toEqual([]);
  beginMany(scheduler, 1, 1000, true);
  expect(refused).toEqual(['1']);
});

it('a single stall of the event loop causes no refusals', () => {
  const scheduler = new FairScheduler({ backlogMilliseconds: 300, minimumBacklog: 32 });
  beginMany(scheduler, 1, 60, true);
  beginMany(scheduler, 39, 0.4, true);
  for (let tick = 0; tick < 2; tick += 1) runTick();
  beginMany(scheduler, 40, 0.4, true);
  expect(refused).toEqual([]);
});

it('the pace decays once the queue is empty', () => {
  const scheduler = slowQueue(10);
  const admitted = () => {
    refused = [];
    beginMany(scheduler, 100, 0, true);
    for (let tick = 0; tick < 20; tick += 1) runTick();
    expect(immediates).toEqual([]);
    return 100 - refused.length;
  };
  admitted();
  now += 50;
  expect(admitted()).toBeLessThan(40);
  now += 1000;
  expect(admitted()).toBe(100);
});

/** Adds requests within one poll phase. Returns the number of refused requests and the number of started requests. */
function refuseFor(scheduler: FairScheduler, milliseconds: number, perMillisecond: number): [number, number] {
  [begun, refused] = [[], []];
  for (let passed = 0; passed < milliseconds; passed += 1) {
    beginMany(scheduler, perMillisecond, 0, true);
    now += 1;
  }
  return [refused.length, begun.length];
}

it('one task begins per 32 refusals in a poll phase full of refusals, and ticks end early', () => {
  const scheduler = slowQueue(160, 1);
  let ended = 0;
  atEndOfTick(() => {
    ended += 1;
  });
  expect(refuseFor(scheduler, 20, 1)).toEqual([20, 0]);
  expect(ended).toBe(0);
  // One task begins after the first 21 refusals, and five after each of the next two batches of 160.
  expect(refuseFor(scheduler, 60, 8)).toEqual([480, 1 + 5 + 5]);
  expect(ended).toBe(1);
});

it('a task that takes longer than the poll limit is not begun once per refusal', () => {
  const scheduler = slowQueue(60, 25);
  expect(refuseFor(scheduler, 200, 1)).toEqual([200, 9]);
});

it('a client with a long task is skipped for half of the task’s duration, and others are not', () => {
  const scheduler = new FairScheduler(patient);
  beginMany(scheduler, 3, 40);
  runTick();
  expect(begun).toEqual(['1']);
  beginBob(scheduler);
  runTick();
  expect(begun).toEqual(['1', 'bob']);
  now += 19;
  for (let tick = 0; tick < 3; tick += 1) runTick();
  expect(begun).toEqual(['1', 'bob']);
  expect(immediates).toEqual([]);
  endPause();
  runTick();
  expect(begun).toEqual(['1', 'bob', '2']);
});

it('no client is skipped for the work of others, such as a batch at the end of its tick', () => {
  const scheduler = new FairScheduler(patient);
  beginMany(scheduler, 1, 1);
  atEndOfTick(() => {
    now += 40;
  });
  runTick();
  beginMany(scheduler, 1, 1);
  runTick();
  expect(begun).toEqual(['1', '1']);
});

it('a client is skipped for at most 50 ms', () => {
  const scheduler = new FairScheduler(patient);
  beginMany(scheduler, 2, 5000);
  for (let tick = 0; tick < 3; tick += 1) runTick();
  const before = now;
  endPause();
  expect(now - before).toBe(50);
  runTick();
  expect(begun).toEqual(['1', '2']);
});

it('a request without a refuse callback never expires', () => {
  const scheduler = schedulerOfOne({ backlogMilliseconds: 100, minimumBacklog: 4 });
  beginMany(scheduler, 10, 10);
  now += 10_000;
  for (let tick = 0; tick < 10; tick += 1) runTick();
  expect([begun.length, refused.length]).toEqual([10, 0]);
});
