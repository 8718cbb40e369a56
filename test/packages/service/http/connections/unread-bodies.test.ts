import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { isUnread, UnreadBodies } from '#service/http/connections/unread-bodies.js';
import { endTick } from '#service/lifecycle/end-of-tick.js';

const newRequest = () => ({ complete: false, headers: { 'content-length': '1' } }) as IncomingMessage;

it('a body that arrives in the same tick is dropped at the end of the tick, a later body when it is checked', () => {
  const bodies = new UnreadBodies();
  const [read, late] = [newRequest(), newRequest()];
  const [readBody, lateBody] = [bodies.begin(read), bodies.begin(late)];
  read.complete = true;
  expect([readBody.request, lateBody.request]).toEqual([read, late]);
  endTick();
  expect([readBody.request, lateBody.request]).toEqual([undefined, late]);
  expect([isUnread(readBody), isUnread(lateBody), isUnread(undefined)]).toEqual([false, true, false]);
  late.complete = true;
  expect(isUnread(lateBody)).toBe(false);
  expect(lateBody.request).toBeUndefined();
});

it('bodies in the next tick are dropped at the end of that tick', () => {
  const bodies = new UnreadBodies();
  bodies.begin(newRequest());
  endTick();
  const request = newRequest();
  const body = bodies.begin(request);
  request.complete = true;
  endTick();
  expect(body.request).toBeUndefined();
});
