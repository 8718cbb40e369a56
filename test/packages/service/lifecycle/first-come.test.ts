import { FirstCome } from '@waxwing/service/lifecycle';
import { expect, it } from 'vitest';

it('gives out in order what was put in, and nothing when nobody waits', () => {
  const line = new FirstCome<number>();
  expect([line.count, line.take()]).toEqual([0, undefined]);
  const taken: (number | undefined)[] = [];
  let put = 0;
  for (let round = 0; round < 5; round++) {
    for (let count = 0; count < 2000; count++) line.add(put++);
    for (let count = 0; count < 1500; count++) taken.push(line.take());
    expect(line.count).toBe((round + 1) * 500);
  }
  while (line.count > 0) taken.push(line.take());
  expect(taken).toEqual(Array.from({ length: put }, (_none, index) => index));
  expect(line.take()).toBeUndefined();
});
