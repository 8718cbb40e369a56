import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Turns } from '#service/http/turns.js';

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

it('what comes while nothing began for long is refused behind what is late, to whoever waits already', () => {
  const turns = new Turns({ backlogMilliseconds: 100, minimumBacklog: 4 });
  beginMany(turns, 5, 1, true);
  now += 101;
  beginMany(turns, 10, 1, true);
  turns.begin(() => void begun.push('bob'), { isFollowing: false, sender: 'bob', refuse: () => undefined });
  expect(refused).toEqual([]);
  turnOfLoop();
  expect(refused).toEqual(['1', '2', ...Array.from({ length: 10 }, (_, index) => `${index + 1}`)]);
  expect(begun).toEqual(['3', 'bob', '4', '5']);
});

it('what would wait for too long is refused eight for each that begins, and also once nothing waits any more', () => {
  const turns = new Turns({ backlogMilliseconds: 100, minimumBacklog: 4 });
  beginMany(turns, 5, 10, true);
  now += 101;
  beginMany(turns, 60, 10, true);
  turnOfLoop();
  expect(counts()).toEqual([1, 8]);
  for (let turn = 0; turn < 4; turn += 1) turnOfLoop();
  expect(counts()).toEqual([4, 61]);
  for (let turn = 0; turn < 3; turn += 1) turnOfLoop();
  expect(immediates).toEqual([]);
});

it('what must have its turn is not refused, however long it waits', () => {
  const turns = new Turns({ backlogMilliseconds: 100, minimumBacklog: 4 });
  beginMany(turns, 10, 10);
  now += 10_000;
  for (let turn = 0; turn < 10; turn += 1) turnOfLoop();
  expect([begun.length, refused.length]).toEqual([10, 0]);
});
