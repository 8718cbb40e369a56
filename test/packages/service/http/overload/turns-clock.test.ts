import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Turns } from '#service/http/overload/turns.js';
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

/** A line of ada's with so many left in it, each known to take so many milliseconds. */
function slowLine(left: number, milliseconds = 10): Turns {
  const turns = new Turns({ backlogMilliseconds: 200, minimumBacklog: 4 });
  const perTurn = Math.max(1, 10 / milliseconds);
  beginMany(turns, left + 30 * perTurn, milliseconds);
  for (let turn = 0; turn < 30; turn += 1) turnOfLoop();
  expect(begun).toHaveLength(30 * perTurn);
  [begun, refused] = [[], []];
  return turns;
}

const beginBob = (turns: Turns) =>
  turns.begin(() => void begun.push('bob'), {
    isFollowing: false,
    sender: 'bob',
    refuse: () => void refused.push('bob'),
  });

it('what comes behind more of its own sender than begin in half of the time is refused at once, and nobody else', () => {
  const turns = slowLine(7);
  beginMany(turns, 20, 10, true);
  expect(20 - refused.length).toBeGreaterThanOrEqual(3);
  expect(20 - refused.length).toBeLessThanOrEqual(5);
  beginBob(turns);
  expect(refused).not.toContain('bob');
  for (let turn = 0; turn < 3; turn += 1) turnOfLoop();
  expect(begun).toContain('bob');
});

it('what comes behind its own waits for those of the others as well', () => {
  const turns = slowLine(9);
  for (let count = 0; count < 2; count += 1) beginBob(turns);
  beginMany(turns, 1, 10, true);
  expect(refused).toEqual(['1']);
});

it('nothing is refused at once where few wait, however slow they are', () => {
  const turns = slowLine(4, 1000);
  beginMany(turns, 1, 1000, true);
  expect(refused).toEqual([]);
  beginMany(turns, 1, 1000, true);
  expect(refused).toEqual(['1']);
});

it('that the loop was held up once is no reason to refuse', () => {
  const turns = new Turns({ backlogMilliseconds: 300, minimumBacklog: 32 });
  beginMany(turns, 1, 60, true);
  beginMany(turns, 39, 0.4, true);
  for (let turn = 0; turn < 2; turn += 1) turnOfLoop();
  beginMany(turns, 40, 0.4, true);
  expect(refused).toEqual([]);
});

it('how long each took is forgotten some time after nothing was left over', () => {
  const turns = slowLine(10);
  const admitted = () => {
    refused = [];
    beginMany(turns, 100, 0, true);
    for (let turn = 0; turn < 20; turn += 1) turnOfLoop();
    expect(immediates).toEqual([]);
    return 100 - refused.length;
  };
  admitted();
  now += 50;
  expect(admitted()).toBeLessThan(40);
  now += 1000;
  expect(admitted()).toBe(100);
});

/** Refuses for so long without going on to the rest of a turn; how many were refused and how many began. */
function refuseFor(turns: Turns, milliseconds: number, perMillisecond: number): [number, number] {
  [begun, refused] = [[], []];
  for (let passed = 0; passed < milliseconds; passed += 1) {
    beginMany(turns, perMillisecond, 0, true);
    now += 1;
  }
  return [refused.length, begun.length];
}

it('while the loop does nothing but refuse, one begins for each 32 that are refused, and turns end all the same', () => {
  const turns = slowLine(160, 1);
  let ended = 0;
  atEndOfTurn(() => {
    ended += 1;
  });
  expect(refuseFor(turns, 20, 1)).toEqual([20, 0]);
  expect(ended).toBe(0);
  // One for the 21 until the first turn, five for each 160 between the next ones.
  expect(refuseFor(turns, 60, 8)).toEqual([480, 1 + 5 + 5]);
  expect(ended).toBe(1);
});

it('what takes longer than turns are apart does not have one begin for each that is refused', () => {
  const turns = slowLine(60, 25);
  expect(refuseFor(turns, 200, 1)).toEqual([200, 9]);
});

it('what must have its turn is not refused, however long it waits', () => {
  const turns = new Turns({ backlogMilliseconds: 100, minimumBacklog: 4 });
  beginMany(turns, 10, 10);
  now += 10_000;
  for (let turn = 0; turn < 10; turn += 1) turnOfLoop();
  expect([begun.length, refused.length]).toEqual([10, 0]);
});
