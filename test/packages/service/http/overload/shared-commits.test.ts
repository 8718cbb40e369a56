import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Exchange } from '#service/http/exchange.js';
import { RequestScheduler } from '#service/http/overload/request-scheduler.js';
import { createMemoryLog } from '../../../../support/memory-log.js';

let now = 0;
let scheduler: RequestScheduler;

beforeEach(() => {
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  scheduler = new RequestScheduler({
    limits: { backlogMilliseconds: 300, minimumBacklog: 32 },
    maximumPiecesPerActor: 1,
    kindOf: () => 'other',
    log: createMemoryLog().log,
    onRefusal: () => undefined,
    closing: new AbortController().signal,
  });
});

afterEach(() => {
  vi.restoreAllMocks();
});

function begin(actor: string, sharesCommits: boolean): (() => void) | undefined {
  const exchange = new Exchange({} as IncomingMessage, new EventEmitter() as unknown as ServerResponse);
  return scheduler.tryPiece(Object.assign(exchange, { actor, sharesCommits, clientKey: actor }));
}

it('work that shares commits needs no slot once its actor has been alone for a second, until another actor begins', () => {
  expect(begin('ada', true)).toBeDefined();
  now = 1000;
  expect(begin('ada', true)).toBeUndefined();
  now = 1001;
  expect(begin('ada', true)).toBeDefined();
  expect(begin('ada', true)).toBeDefined();
  begin('bob', false);
  expect(begin('ada', true)).toBeUndefined();
});

it('other work needs a slot even if its actor is alone', () => {
  expect(begin('ada', false)).toBeDefined();
  now = 1001;
  expect(begin('ada', false)).toBeUndefined();
});
