import { expect, it } from 'vitest';
import { WaitingLine } from '#relay/deliveries/vendors/waiting-line.js';

it('gives out in order what was put in, and nothing when nobody waits', () => {
  const line = new WaitingLine<number>();
  expect([line.length, line.take()]).toEqual([0, undefined]);
  const taken: (number | undefined)[] = [];
  let put = 0;
  // In and out by turns, so that it is cut in the middle as well.
  for (let round = 0; round < 5; round++) {
    for (let count = 0; count < 2000; count++) line.push(put++);
    for (let count = 0; count < 1500; count++) taken.push(line.take());
    expect(line.length).toBe((round + 1) * 500);
  }
  while (line.length > 0) taken.push(line.take());
  expect(taken).toEqual(Array.from({ length: put }, (_none, index) => index));
  expect(line.take()).toBeUndefined();
});
