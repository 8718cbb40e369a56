import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Turns } from '#service/http/turns.js';
import { atEndOfTurn } from '#service/lifecycle/at-end-of-turn.js';

const patient = { backlogMilliseconds: 60_000, minimumBacklog: 1 };
let now: number;
let immediates: (() => void)[];
let begun: string[];
let refused: string[];

beforeEach(() => {
  now = 1000;
  [immediates, begun, refused] = [[], [], []];
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.stubGlobal('setImmediate', (act: () => void) => void immediates.push(act));
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** What Node does before it looks at sockets again: what was asked for before, and nothing that is asked for meanwhile. */
function turnOfLoop(): void {
  for (const act of immediates.splice(0)) act();
}

/** Something of ada that takes so many milliseconds. */
function beginMany(turns: Turns, count: number, milliseconds: number, isRefusable = false): void {
  for (let number = 1; number <= count; number += 1) {
    const act = () => {
      begun.push(`${number}`);
      now += milliseconds;
    };
    const refuse = isRefusable ? () => void refused.push(`${number}`) : undefined;
    turns.begin(act, { isFollowing: false, sender: 'ada', refuse });
  }
}

it('a turn of the loop ends with what reaches its tenth millisecond', () => {
  beginMany(new Turns(patient), 5, 5);
  turnOfLoop();
  expect(begun).toEqual(['1', '2']);
  turnOfLoop();
  expect(begun).toEqual(['1', '2', '3', '4']);
  turnOfLoop();
  expect(begun).toHaveLength(5);
});

it('a turn of the loop has 256 things, however short they are', () => {
  beginMany(new Turns(patient), 600, 0);
  turnOfLoop();
  expect(begun).toHaveLength(256);
  turnOfLoop();
  expect(begun).toHaveLength(512);
  turnOfLoop();
  expect(begun).toHaveLength(600);
  for (let turn = 0; turn < 3; turn += 1) turnOfLoop();
  expect(immediates).toEqual([]);
});

const counts = () => [begun.length, refused.length];

it('what waits for longer than it may is refused, the oldest first, eight for each that begins, until few wait', () => {
  const turns = new Turns({ backlogMilliseconds: 100, minimumBacklog: 4 });
  beginMany(turns, 40, 10, true);
  now += 100;
  turnOfLoop();
  expect(counts()).toEqual([1, 0]);
  turnOfLoop();
  expect(counts()).toEqual([2, 8]);
  expect(refused).toEqual(Array.from({ length: 8 }, (_, index) => `${index + 2}`));
  expect(begun[1]).toBe('10');
  turnOfLoop();
  turnOfLoop();
  expect(counts()).toEqual([4, 24]);
  turnOfLoop();
  expect(counts()).toEqual([5, 32]);
  for (let turn = 0; turn < 5; turn += 1) turnOfLoop();
  expect(counts()).toEqual([8, 32]);
});

/** A line of ada's, known to take ten milliseconds for each. */
function slowLine(): Turns {
  const turns = new Turns({ backlogMilliseconds: 200, minimumBacklog: 4 });
  beginMany(turns, 40, 10, true);
  for (let turn = 0; turn < 2; turn += 1) turnOfLoop();
  [begun, refused] = [[], []];
  return turns;
}

it('what comes behind more of its own sender than begin in half of the time is refused at once, and nobody else', () => {
  const turns = slowLine();
  beginMany(turns, 2, 10, true);
  expect(refused).toEqual(['1', '2']);
  turns.begin(() => void begun.push('bob'), { isFollowing: false, sender: 'bob', refuse: () => undefined });
  beginMany(turns, 1, 10);
  expect(refused).toHaveLength(2);
  for (let turn = 0; turn < 2; turn += 1) turnOfLoop();
  expect(begun).toContain('bob');
});

it('how long each took is forgotten some time after nothing was left over', () => {
  const turns = slowLine();
  for (let turn = 0; turn < 40; turn += 1) turnOfLoop();
  expect(immediates).toEqual([]);
  const admitted = () => {
    refused = [];
    beginMany(turns, 100, 0, true);
    for (let turn = 0; turn < 3; turn += 1) turnOfLoop();
    return 100 - refused.length;
  };
  expect(admitted()).toBeLessThan(40);
  now += 1000;
  expect(admitted()).toBe(100);
});

it('while the loop does nothing but refuse, one begins for each 32 that are refused, and turns end all the same', () => {
  const turns = slowLine();
  let ended = 0;
  const refuseFor = (milliseconds: number, perMillisecond: number) => {
    [begun, refused] = [[], []];
    atEndOfTurn(() => {
      ended += 1;
    });
    for (const until = now + milliseconds; now < until; now += 1) beginMany(turns, perMillisecond, 0, true);
    return refused.length / begun.length;
  };
  expect(refuseFor(9, 1)).toBe(Number.POSITIVE_INFINITY);
  expect(ended).toBe(0);
  expect(refuseFor(50, 8)).toBeGreaterThan(15);
  expect(refused.length / begun.length).toBeLessThanOrEqual(32);
  expect(ended).toBe(2);
});

it('what must have its turn is not refused, however long it waits', () => {
  const turns = new Turns({ backlogMilliseconds: 100, minimumBacklog: 4 });
  beginMany(turns, 10, 10);
  now += 10_000;
  for (let turn = 0; turn < 10; turn += 1) turnOfLoop();
  expect([begun.length, refused.length]).toEqual([10, 0]);
});
