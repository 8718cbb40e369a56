import { expect, it } from 'vitest';
import { ActorSlots } from '#service/http/overload/actor-slots.js';

it('each actor has so many slots, and hands them over in the order in which they were asked for', async () => {
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
