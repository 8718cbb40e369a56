import { beforeEach, expect, it } from 'vitest';
import { EqualParts } from '#service/http/overload/equal-parts.js';

const most = 6;
let parts: EqualParts;
beforeEach(() => {
  parts = new EqualParts();
});

/** How many more a holder is given until there is no room. */
function fill(holder: string): number {
  let added = 0;
  while (added < 100 && parts.hasRoom(holder, most)) {
    parts.add(holder);
    added += 1;
  }
  return added;
}

function remove(holder: string, count: number): void {
  for (let removed = 0; removed < count; removed += 1) parts.remove(holder);
}

it('all have room until there are as many as may be, and then each up to an equal part', () => {
  parts.add('bob');
  expect([fill('ada'), parts.count]).toEqual([5, 6]);
  expect([fill('bob'), fill('bob'), fill('ada'), parts.count]).toEqual([2, 0, 0, 8]);
  expect([fill('carol'), parts.count]).toEqual([2, 10]);
});

it('whose part would be less than one has no room', () => {
  for (const holder of ['a', 'b', 'c', 'd', 'e', 'f']) parts.add(holder);
  expect(fill('g')).toBe(0);
});

it('who has given some back has the others still, and who has none left takes no part any more', () => {
  expect([fill('ada'), fill('bob')]).toEqual([6, 3]);
  remove('bob', 1);
  expect([parts.count, fill('carol'), parts.count]).toEqual([8, 2, 10]);
  remove('carol', 2);
  remove('bob', 2);
  expect([parts.count, fill('dan'), parts.count]).toEqual([6, 3, 9]);
});
