import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Exchange } from '#service/http/exchange.js';
import { Backlog, type BacklogOptions, type Work } from '#service/http/overload/backlog.js';
import { newExchange } from '../new-exchange.js';

// At 0 nothing is late; what came then is at 1000.
const limits = { backlogMilliseconds: 1000, minimumBacklog: 4 };
let now: number;
let backlog: Backlog;
let refusals: number;

function open(options: Partial<BacklogOptions> = {}): void {
  refusals = 0;
  const onOverload = () => {
    refusals += 1;
  };
  backlog = new Backlog({
    ...{ limits, waitsForOthers: false, isProcessBusy: () => false, onOverload, ...options },
  });
}

beforeEach(() => {
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  open();
});
afterEach(() => void vi.restoreAllMocks());

/** A request that comes now, whose sender is not known yet. */
function enter(exchange = newExchange()): Work {
  return backlog.enter(exchange);
}

function begin(sender: string, exchange?: Exchange): Work {
  const work = enter(exchange);
  work.admit(sender);
  work.pause();
  work.resume();
  return work;
}

function beginMany(count: number, sender: string): Work[] {
  return Array.from({ length: count }, () => begin(sender));
}

/** How many more requests of the sender are let in until one is refused. */
function room(sender: string): number {
  for (let begun = 0; begun < 1000; begun += 1) {
    try {
      begin(sender);
    } catch (error) {
      expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      return begun;
    }
  }
  return Number.POSITIVE_INFINITY;
}

it('all are let in until the oldest has waited for as long as an answer may take, and then each sender to its part', () => {
  beginMany(4, 'ada');
  now = 999;
  begin('ada').end();
  now = 1000;
  expect(room('ada')).toBe(0);
  expect(room('ada')).toBe(0);
  expect(room('bob')).toBe(2);
  expect(room('carol')).toBe(1);
  expect(room('dan')).toBe(1);
  expect(refusals).toBe(5);
});

it('all whose sender is not known yet are let in while nothing is late', () => {
  for (let count = 0; count < 20; count += 1) enter();
  now = 999;
  enter();
  expect(refusals).toBe(0);
});

it('of those whose sender is not known yet as many are let in as could be answered in time', () => {
  for (let count = 0; count < 3; count += 1) enter();
  now = 1000;
  enter();
  expect(enter).toThrow(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }));
  expect(refusals).toBe(1);
});

it('all are let in for as long again after one that was answered in time, and not after one that was late', () => {
  beginMany(4, 'ada');
  const [inTime, late] = beginMany(2, 'ada') as [Work, Work];
  now = 1000;
  inTime.answered();
  inTime.end();
  now = 1999;
  late.answered();
  late.end();
  begin('ada').end();
  now = 2000;
  expect(room('ada')).toBe(0);
});

it('as many are let in as were answered of late in the time that an answer may take, and fewer after a stall', () => {
  const answered = beginMany(30, 'ada');
  now = 500;
  for (const work of answered) {
    work.answered();
    work.end();
  }
  beginMany(29, 'ada');
  // Thirty in a second.
  now = 1500;
  expect(room('ada')).toBe(1);
  now = 1999;
  const ofBob = beginMany(15, 'bob');
  expect(room('bob')).toBe(0);
  for (const work of ofBob) work.end();
  now = 2000;
  expect(room('bob')).toBe(12);
});

it('what was answered most of late counts for less by how long ago that was, however seldom it is looked at', () => {
  for (const work of beginMany(40, 'ada')) {
    work.answered();
    work.end();
  }
  now = 500;
  const held = beginMany(4, 'ada');
  held[0]?.answered();
  // Eighty in a second, and five windows later a third of them.
  now = 3000;
  expect(room('ada')).toBe(Math.ceil(80 * 0.8 ** 5) - 4);
});

it('where answers wait for others all are let in while this process is not busy', () => {
  let isBusy = false;
  open({ waitsForOthers: true, isProcessBusy: () => isBusy });
  beginMany(4, 'ada');
  now = 1000;
  begin('ada').end();
  isBusy = true;
  expect(room('ada')).toBe(0);
});

it('the time for which a request is paused does not count', () => {
  const paused = Array.from({ length: 4 }, enter);
  for (const work of paused) work.admit('ada');
  now = 500;
  for (const work of paused) work.pause();
  now = 5000;
  begin('ada').end();
  for (const work of paused) work.resume();
  now = 5499;
  begin('ada').end();
  now = 5500;
  expect(room('ada')).toBe(0);
});

it('a request whose requester leaves before it has begun is over, and one that has begun at its end', () => {
  const exchanges = Array.from({ length: 4 }, () => newExchange());
  const leaving = exchanges.map((exchange) => begin('ada', exchange));
  for (const exchange of exchanges) exchange.end();
  now = 1000;
  expect(room('ada')).toBe(0);
  for (const work of leaving) work.end();
  begin('ada').end();

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

it('a request is counted once, under its sender, until it ends', () => {
  const works = beginMany(5, 'ada');
  works[0]?.end();
  works[0]?.end();
  const leaver = newExchange();
  const left = enter(leaver);
  leaver.end();
  left.admit('left');
  const [first, second] = beginMany(2, 'bob');
  first?.end();
  for (const work of beginMany(2, 'carol')) work.end();
  now = 1000;
  expect(room('ada')).toBe(0);
  expect(room('bob')).toBe(1);
  second?.end();
  expect(room('bob')).toBe(1);
});
