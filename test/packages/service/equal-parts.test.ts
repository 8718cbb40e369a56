import { expect, it } from 'vitest';
import { EqualParts } from '#service/http/equal-parts.js';

it('all have room until there are as many as may be, and then each up to an equal part', () => {
  const parts = new EqualParts();
  const fill = (holder: string, most: number): number => {
    let added = 0;
    while (added < 100 && parts.hasRoom(holder, most)) {
      parts.add(holder);
      added += 1;
    }
    return added;
  };
  expect([fill('ada', 6), parts.count]).toEqual([6, 6]);
  expect([fill('bob', 6), fill('bob', 6), fill('ada', 6), parts.count]).toEqual([3, 0, 0, 9]);
  expect([fill('carol', 6), parts.count]).toEqual([2, 11]);
  // A part is of those who have some.
  for (let count = 0; count < 3; count += 1) parts.remove('bob');
  expect(parts.count).toBe(8);
  expect([fill('carol', 6), parts.count]).toEqual([1, 9]);
  for (let count = 0; count < 6; count += 1) parts.remove('ada');
  expect([fill('carol', 6), parts.count]).toEqual([3, 6]);
});
