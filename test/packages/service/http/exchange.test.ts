import { expect, it } from 'vitest';
import { newExchange } from './new-exchange.js';

it('an exchange that is over stays so: what waits for its end acts once, and at once when it comes later', () => {
  const exchange = newExchange();
  const acts: string[] = [];
  exchange.whenOver(() => acts.push('first'));
  exchange.whenOver(() => acts.push('second'));
  expect([exchange.isOver, exchange.signal.aborted]).toEqual([false, false]);
  exchange.end();
  exchange.end();
  expect(acts).toEqual(['second', 'first']);
  exchange.whenOver(() => acts.push('late'));
  expect(acts).toEqual(['second', 'first', 'late']);
  expect([exchange.isOver, exchange.signal.aborted]).toEqual([true, true]);
});
