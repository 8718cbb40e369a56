import { expect, it } from 'vitest';
import { newExchange } from './new-exchange.js';

it('listeners of an exchange run once, in reverse order, or immediately after its end', () => {
  const exchange = newExchange();
  const acts: string[] = [];
  exchange.onEnd(() => acts.push('first'));
  exchange.onEnd(() => acts.push('second'));
  expect([exchange.isOver, exchange.signal.aborted]).toEqual([false, false]);
  exchange.end();
  exchange.end();
  expect(acts).toEqual(['second', 'first']);
  exchange.onEnd(() => acts.push('late'));
  expect(acts).toEqual(['second', 'first', 'late']);
  expect([exchange.isOver, exchange.signal.aborted]).toEqual([true, true]);
});
