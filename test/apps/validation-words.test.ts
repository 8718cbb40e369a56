import { type JsonValue, ProtocolError } from '@waxwing/protocol';
import { relayAdminOperations, relayOperations } from '@waxwing/relay';
import { serverOperations } from '@waxwing/server';
import type { AnyOperation } from '@waxwing/service/http';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ParameterReader, parseJsonParameters } from '#service/http/operations/request-parameters.js';
import fc from '../support/fast-check.js';

const operations: readonly AnyOperation[] = [
  ...serverOperations,
  ...relayOperations,
  ...relayAdminOperations,
];

/** Each parameter of each operation, as a separate schema. */
const parameters = operations.flatMap(({ body = 'form', method, parameters, path }) =>
  Object.entries(parameters.shape).map(([name, shape]) => ({
    name,
    isJson: body === 'json',
    of: `${method} ${path}`,
    schema: z.object({ [name]: shape }),
  })),
);

/** Zod's own terms, and characters that occur in its types and patterns. */
const foreignWords =
  /expected|received|invalid (?:input|option|type|string|key|element|discriminator|union|url|uuid|iso)|too (?:big|small)|unrecognized|undefined|NaN|\[object|pattern|regex|must match|zod|>=|<=|\/\^/i;

function messageOf(read: () => unknown): string {
  try {
    read();
    return '';
  } catch (error) {
    if (error instanceof ProtocolError) return error.message;
    throw error;
  }
}

function refusals(
  { isJson, name, schema }: (typeof parameters)[number],
  values: readonly JsonValue[],
): string[] {
  if (isJson) return values.map((value) => messageOf(() => parseJsonParameters(schema, { [name]: value })));
  const reader = new ParameterReader({ parameters: schema, path: '' });
  const texts = values.flatMap((value) =>
    typeof value === 'string' ? [value, JSON.stringify(value)] : JSON.stringify(value),
  );
  return texts.map((text) => messageOf(() => reader.read({ path: {}, raw: new Map([[name, text]]) })));
}

const examples: readonly JsonValue[] = [
  ...[
    '',
    'x',
    'web',
    'x'.repeat(20_000),
    0,
    -1,
    1.5,
    1e300,
    true,
    null,
    [],
    {},
    [1],
    ['a'],
    [[]],
    [{}],
    [null],
  ],
  ...[
    { new: {} },
    { new: 'x' },
    { direct_members: 1 },
    { id: 'x' },
    [{ id: 'x', value: 1 }],
    { realm_uuid: 1 },
  ],
  ...[Array.from({ length: 2000 }, () => 'x'), [{ payload: 1 }], [{ http_headers: 1 }], { constructor: 1 }],
];

describe('a refused parameter is described in our own words', () => {
  it('for any text', () => {
    const foreign = parameters.flatMap((each) =>
      refusals(each, examples)
        .filter((message) => foreignWords.test(message.replaceAll(each.name, '')))
        .map((message) => `${each.of}: ${message.slice(0, 200)}`),
    );
    expect([...new Set(foreign)]).toEqual([]);
  });

  it('for any JSON', () => {
    const value = fc.jsonValue({ maxDepth: 3 }).map((each) => JSON.parse(JSON.stringify(each)) as JsonValue);
    fc.assert(
      fc.property(fc.constantFrom(...parameters), value, (parameter, sent) => {
        const inside = JSON.stringify(sent);
        for (const message of refusals(parameter, [sent, [sent], { new: sent }])) {
          if (foreignWords.test(inside)) continue;
          expect(message.replaceAll(parameter.name, '')).not.toMatch(foreignWords);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('as a sentence that names the valid values', () => {
    const tokenKind = parameters.find(({ name, isJson }) => name === 'token_kind' && !isJson);
    if (tokenKind === undefined) throw new Error('no operation has a token_kind');
    expect(refusals(tokenKind, ['web'])[0]).toBe('Invalid token_kind: must be one of fcm, apns, webpush');
    const schema = z.strictObject({ a: z.array(z.string().max(3)).max(2), b: z.number().min(2).optional() });
    const said = (value: JsonValue) => messageOf(() => parseJsonParameters(schema, value));
    expect(
      [
        { a: 1 },
        { a: [1] },
        { a: ['long'] },
        { a: ['', '', ''] },
        { a: [], b: 1 },
        {},
        { a: [], c: 1 },
        [],
      ].map(said),
    ).toEqual([
      'Invalid a: must be a list',
      'Invalid a.0: must be a string',
      'Invalid a.0: must have at most 3 characters',
      'Invalid a: must have at most 2 entries',
      'Invalid b: must be at least 2',
      'Invalid a: is missing',
      'Invalid request body: must not have c',
      'Invalid request body: must be an object',
    ]);
  });
});
