import { beforeEach, expect, it } from 'vitest';
import { FairShares } from '#service/http/overload/fair-shares.js';

const limit = 6;
let shares: FairShares;
beforeEach(() => {
  shares = new FairShares();
});

/** Adds units for a client until its share is full. Returns the number of units added. */
function fill(client: string): number {
  let added = 0;
  while (added < 100 && shares.hasRoom(client, limit)) {
    shares.add(client);
    added += 1;
  }
  return added;
}

function remove(client: string, count: number): void {
  for (let removed = 0; removed < count; removed += 1) shares.remove(client);
}

it('every client has room below the limit, or up to its fair share above the limit', () => {
  shares.add('bob');
  expect([fill('ada'), shares.count]).toEqual([5, 6]);
  expect([fill('bob'), fill('bob'), fill('ada'), shares.count]).toEqual([2, 0, 0, 8]);
  expect([fill('carol'), shares.count]).toEqual([2, 10]);
});

it('a client whose fair share is less than one has no room', () => {
  for (const client of ['a', 'b', 'c', 'd', 'e', 'f']) shares.add(client);
  expect(fill('g')).toBe(0);
});

it('a released unit is available again, and a client without units does not count', () => {
  expect([fill('ada'), fill('bob')]).toEqual([6, 3]);
  remove('bob', 1);
  expect([shares.count, fill('carol'), shares.count]).toEqual([8, 2, 10]);
  remove('carol', 2);
  remove('bob', 2);
  expect([shares.count, fill('dan'), shares.count]).toEqual([6, 3, 9]);
});
