import { beforeEach, expect, it } from 'vitest';
import { ClientPauses } from '#service/http/overload/client-pauses.js';

let pauses: ClientPauses;
beforeEach(() => {
  pauses = new ClientPauses();
});

it('a client is paused for half the duration of a task that took more than 5 ms', () => {
  pauses.charge('ada', 5, 1000);
  expect(pauses.has('ada', 1000)).toBe(false);
  pauses.charge('ada', 6, 1000);
  expect([pauses.has('ada', 1002), pauses.untilNext(1002)]).toEqual([true, 1]);
  expect([pauses.has('ada', 1003), pauses.untilNext(1003)]).toEqual([false, 0]);
});

it('a client that is alone for more than a second is not paused until another client arrives', () => {
  pauses.charge('ada', 40, 1000);
  expect(pauses.has('ada', 1000)).toBe(true);
  pauses.charge('ada', 40, 2000);
  expect(pauses.has('ada', 2000)).toBe(true);
  pauses.charge('ada', 40, 2021);
  expect(pauses.has('ada', 2021)).toBe(false);
  pauses.charge('bob', 1, 2030);
  pauses.charge('ada', 40, 2040);
  expect(pauses.has('ada', 2040)).toBe(true);
  expect(pauses.has('bob', 2040)).toBe(false);
});
