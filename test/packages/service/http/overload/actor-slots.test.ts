import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ActorSlots } from '#service/http/overload/actor-slots.js';

let now: number;
beforeEach(() => {
  now = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => vi.restoreAllMocks());

it('each actor has a fixed number of slots, assigned in FIFO order', async () => {
  const slots = new ActorSlots(2);
  const [one, two] = [slots.take('ada'), slots.take('ada')];
  expect(slots.take('ada')).toBeUndefined();
  expect(slots.take('bob')).toBeDefined();
  const order: string[] = [];
  const wait = (name: string) =>
    slots.wait('ada').then((release) => {
      order.push(name);
      return release;
    });
  const [third, fourth] = [wait('third'), wait('fourth')];
  one?.();
  one?.();
  (await third)();
  (await fourth)();
  expect(order).toEqual(['third', 'fourth']);
  expect(slots.take('ada')).toBeDefined();
  expect(slots.take('ada')).toBeUndefined();
  two?.();
  expect(slots.take('ada')).toBeDefined();
});

it('an actor has one slot after pieces of more than 20 ms, until shorter pieces restore its slots', async () => {
  const slots = new ActorSlots(2);
  const [one, two] = [slots.take('ada'), slots.take('ada')];
  const [third, fourth] = [slots.wait('ada'), slots.wait('ada')];
  now += 21;
  one?.();
  expect(slots.take('bob')).toBeDefined();
  const isThird = vi.fn();
  void third.then(isThird);
  await Promise.resolve();
  await Promise.resolve();
  expect(isThird).not.toHaveBeenCalled();
  two?.();
  const release = await third;
  expect(slots.take('ada')).toBeUndefined();
  release();
  await fourth;
  expect(slots.take('ada')).toBeDefined();
});
