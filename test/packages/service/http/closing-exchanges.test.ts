import { describe, expect, it } from 'vitest';
import { ClosingExchanges } from '#service/http/closing-exchanges.js';
import { newExchange } from './new-exchange.js';

describe('an exchange whose work waits', () => {
  it('is told once when the service closes, and at once when it closes already; nothing is kept of one that is over', () => {
    const closing = new AbortController();
    const exchanges = new ClosingExchanges(closing.signal);
    const [over, open, late] = [newExchange(), newExchange(), newExchange()];
    const signals = [over, open].map((exchange) => exchanges.signalOf(exchange));
    expect(exchanges.signalOf(open)).toBe(signals[1]);
    expect(exchanges.count).toBe(2);
    over.end();
    expect(exchanges.count).toBe(1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    closing.abort();
    expect(signals[1]?.aborted).toBe(true);
    expect(open.isOver).toBe(false);
    expect(exchanges.signalOf(late).aborted).toBe(true);
    open.end();
    expect(exchanges.count).toBe(0);
  });

  it('is not kept where it is over before it is asked for', () => {
    const exchanges = new ClosingExchanges(new AbortController().signal);
    const over = newExchange();
    over.end();
    expect(exchanges.signalOf(over).aborted).toBe(true);
    expect(exchanges.count).toBe(0);
  });
});
