import { describe, expect, it } from 'vitest';
import { ShutdownSignals } from '#service/http/shutdown-signals.js';
import { newExchange } from './new-exchange.js';

describe('the signal of an exchange', () => {
  it('is aborted when the service closes, or immediately if it is already closing', () => {
    const closing = new AbortController();
    const exchanges = new ShutdownSignals(closing.signal);
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

  it('is not tracked for an exchange that has already ended', () => {
    const exchanges = new ShutdownSignals(new AbortController().signal);
    const over = newExchange();
    over.end();
    expect(exchanges.signalOf(over).aborted).toBe(true);
    expect(exchanges.count).toBe(0);
  });
});
