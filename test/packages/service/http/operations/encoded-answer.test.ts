import type { JsonObject } from '@waxwing/protocol';
import { EncodedAnswer, EncodedJson } from '@waxwing/service/http';
import { describe, expect, it } from 'vitest';
import type { TestOperation } from '../../../../support/test-operation.js';
import { serve } from './serve-operations.js';

const encoded = (value: JsonObject[]) => {
  const bytes = Buffer.from(JSON.stringify(value));
  return new EncodedJson<JsonObject[]>([bytes.subarray(0, 3), bytes.subarray(3)]);
};
const answering = (fields: ConstructorParameters<typeof EncodedAnswer>[0]): TestOperation => ({
  method: 'POST',
  path: '/encoded',
  handle: async () => new EncodedAnswer(fields),
});
const users = [{ name: 'Ærøskøbing 🦆' }];

describe('a response with encoded fields', () => {
  it.each([
    ['first', { users: encoded(users), id: 1, name: 'é' }],
    ['last', { id: 1, name: 'é', users: encoded(users) }],
    ['in the middle', { id: 1, users: encoded(users), name: 'é' }],
    ['alone', { users: encoded(users) }],
    ['next to each other', { id: 1, users: encoded(users), others: encoded([]), name: 'é' }],
    ['absent', { id: 1, name: undefined }],
  ])('has the same bytes as with plain fields: %s', async (_name, fields) => {
    const plain = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        name,
        value instanceof EncodedJson ? value.decode() : value,
      ]),
    );
    for (const [query, extra] of [
      ['', {}],
      ['?x=1', { ignored_parameters_unsupported: ['x'] }],
    ] as const) {
      const server = await serve(answering(fields));
      const answer = await server.inject({ method: 'POST', url: `/encoded${query}` });
      const expected = `${JSON.stringify({ result: 'success', msg: '', ...plain, ...extra })}\n`;
      expect(answer.body).toBe(expected);
      expect(answer.headers).toMatchObject({
        'content-length': String(Buffer.byteLength(expected)),
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
      });
    }
  });
});
