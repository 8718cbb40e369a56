import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { isUnread, UnreadBodies } from '#service/http/connections/unread-bodies.js';
import { endTurn } from '#service/lifecycle/at-end-of-turn.js';

const newRequest = () => ({ complete: false }) as IncomingMessage;

it('a body that came in the same turn is let go at its end, others when somebody asks', () => {
  const bodies = new UnreadBodies();
  const [read, late] = [newRequest(), newRequest()];
  const [readBody, lateBody] = [bodies.begin(read), bodies.begin(late)];
  read.complete = true;
  expect([readBody.request, lateBody.request]).toEqual([read, late]);
  endTurn();
  expect([readBody.request, lateBody.request]).toEqual([undefined, late]);
  expect([isUnread(readBody), isUnread(lateBody), isUnread(undefined)]).toEqual([false, true, false]);
  late.complete = true;
  expect(isUnread(lateBody)).toBe(false);
  expect(lateBody.request).toBeUndefined();
});

it('of those of the next turn it is found out at its own end', () => {
  const bodies = new UnreadBodies();
  bodies.begin(newRequest());
  endTurn();
  const request = newRequest();
  const body = bodies.begin(request);
  request.complete = true;
  endTurn();
  expect(body.request).toBeUndefined();
});
