import { expect, it } from 'vitest';
import { expectedBodyBytes } from '#service/http/bodies/received-body.js';

it.each([
  { why: 'as its head says', headers: { 'content-length': '99' }, bytes: 99 },
  { why: 'up to the limit', headers: { 'content-length': '100' }, bytes: 100 },
  { why: 'too large to be read', headers: { 'content-length': '101' }, bytes: 0 },
  { why: 'none', headers: {}, bytes: 0 },
  {
    why: 'of which the head does not say how long it is',
    headers: { 'transfer-encoding': 'chunked' },
    bytes: 100,
  },
  { why: 'that is never read', method: 'GET', headers: { 'content-length': '99' }, bytes: 0 },
])('a body $why is expected to take $bytes of at most 100 bytes', ({ method = 'POST', headers, bytes }) => {
  expect(expectedBodyBytes({ method, headers }, 100)).toBe(bytes);
});
