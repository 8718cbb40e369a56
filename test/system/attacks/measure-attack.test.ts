import { expect, it } from 'vitest';
import type { AttackReport, RepeatedRequests } from './attack.js';
import { hold } from './http-attacks.js';
import { complaintsOfAnswers } from './measure-attack.js';

const request = (what: string, ...answers: string[]) => ({ what, answers, text: '' });
const flood: RepeatedRequests = {
  kind: 'flood',
  port: 1,
  connections: 1,
  total: 400,
  depth: 1,
  endsConnections: false,
  requests: [request('clients knock', '404 NOT_FOUND'), request('members ask', '429 RATE_LIMIT_HIT', '200')],
};

function complaints(answers: AttackReport['answers']): string[] {
  return complaintsOfAnswers(flood, { isInForce: true, isOver: true, open: 0, done: 400, answers });
}

it('each kind of attack must get its own responses, including its most frequent one', () => {
  const right = {
    'clients knock': { '404 NOT_FOUND': 200 },
    'members ask': { '429 RATE_LIMIT_HIT': 2, '200': 198 },
  };
  expect(complaints(right)).toEqual([]);
  expect(
    complaints({ ...right, 'clients knock': { '404 NOT_FOUND': 2, '503 SERVICE_UNAVAILABLE': 198 } }),
  ).toEqual([]);
  expect(complaints({ ...right, 'clients knock': { '404 NOT_FOUND': 199, '200': 1 } })).toEqual([
    'while clients knock, 1 requests were answered 200',
  ]);
  expect(complaints({ ...right, 'clients knock': {} })).toEqual([
    'while clients knock, only 0 of 0 requests were answered 404 NOT_FOUND',
  ]);
  expect(complaints({ ...right, 'members ask': { '200': 200 } })).toEqual([
    'while members ask, only 0 of 200 requests were answered 429 RATE_LIMIT_HIT',
  ]);
});

it('held connections may get their own responses, and those that any held connection may get', () => {
  const held = hold(1, { first: '', answers: ['401 UNAUTHORIZED'] });
  const heldComplaints = (answers: Record<string, number>) =>
    complaintsOfAnswers(held, {
      isInForce: true,
      isOver: false,
      open: 1,
      done: 1,
      answers: { held: answers },
    });
  expect(
    heldComplaints({ '401 UNAUTHORIZED': 5, '408 REQUEST_TIMEOUT': 3, '503 SERVICE_UNAVAILABLE': 1 }),
  ).toEqual([]);
  expect(heldComplaints({ '401 UNAUTHORIZED': 5, '500 INTERNAL_ERROR': 2 })).toEqual([
    'while connections are held, 2 requests were answered 500 INTERNAL_ERROR',
  ]);
});
