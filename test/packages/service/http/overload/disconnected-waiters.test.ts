import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { Exchange } from '#service/http/exchange.js';
import { RequestScheduler } from '#service/http/overload/request-scheduler.js';
import { createMemoryLog } from '../../../../support/memory-log.js';

function exchangeOf(actor: string): Exchange {
  const exchange = new Exchange({} as IncomingMessage, new EventEmitter() as unknown as ServerResponse);
  return Object.assign(exchange, { actor, clientKey: actor });
}

it('a request that waits for a slot ends when its client disconnects, without taking the slot', async () => {
  const scheduler = new RequestScheduler({
    limits: { backlogMilliseconds: 60_000, minimumBacklog: 32 },
    maximumPiecesPerActor: 1,
    kindOf: () => 'other',
    log: createMemoryLog().log,
    onRefusal: () => undefined,
    closing: new AbortController().signal,
  });
  const [running, gone, waiting] = [exchangeOf('ada'), exchangeOf('ada'), exchangeOf('ada')];
  const release = await scheduler.beginPiece(running, false);
  const ended = scheduler.beginPiece(gone, false);
  const next = scheduler.beginPiece(waiting, false);
  gone.end();
  await expect(ended).rejects.toMatchObject({ name: 'AbortError' });
  release();
  (await next)();
  expect(scheduler.tryPiece(exchangeOf('ada'))).toBeTypeOf('function');
});
