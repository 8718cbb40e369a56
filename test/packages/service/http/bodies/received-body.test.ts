import { expect, it } from 'vitest';
import { expectedBodyBytes } from '#service/http/bodies/received-body.js';

it.each([
  { why: 'with a declared length', headers: { 'content-length': '99' }, bytes: 99 },
  { why: 'with a length at the limit', headers: { 'content-length': '100' }, bytes: 100 },
  { why: 'that is too large to be read', headers: { 'content-length': '101' }, bytes: 0 },
  { why: 'that does not exist', headers: {}, bytes: 0 },
  {
    why: 'of unknown length',
    headers: { 'transfer-encoding': 'chunked' },
    bytes: 100,
  },
  { why: 'that is never read', method: 'GET', headers: { 'content-length': '99' }, bytes: 0 },
])('a body $why is expected to take $bytes of at most 100 bytes', ({ method = 'POST', headers, bytes }) => {
  expect(expectedBodyBytes({ method, headers }, 100)).toBe(bytes);
});
