import { FifoQueue } from '@waxwing/service/lifecycle';
import { expect, it } from 'vitest';

it('a FIFO queue returns items in order, and nothing when it is empty', () => {
  const queue = new FifoQueue<number>();
  expect([queue.count, queue.take()]).toEqual([0, undefined]);
  const taken: (number | undefined)[] = [];
  let put = 0;
  for (let round = 0; round < 5; round++) {
    for (let count = 0; count < 2000; count++) queue.add(put++);
    for (let count = 0; count < 1500; count++) taken.push(queue.take());
    expect(queue.count).toBe((round + 1) * 500);
  }
  while (queue.count > 0) taken.push(queue.take());
  expect(taken).toEqual(Array.from({ length: put }, (_none, index) => index));
  expect(queue.take()).toBeUndefined();
});
