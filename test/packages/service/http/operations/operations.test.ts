import { Readable } from 'node:stream';
import { type JsonObject, ProtocolError } from '@waxwing/protocol';
import {
  anyone,
  booleanParameter,
  integerParameter,
  jsonParameter,
  ListAnswer,
  noParameters,
  operation,
  optionalJsonParameter,
  RawAnswer,
} from '@waxwing/service/http';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { TestOperation } from '../../../../support/test-operation.js';
import { serve } from './serve-operations.js';

const echo: TestOperation['handle'] = async ({ parameters }) => parameters as JsonObject;

describe('a path with parameters', () => {
  const message: TestOperation = {
    method: 'PATCH',
    path: '/api/v1/messages/{message_id}',
    parameters: z.object({ message_id: integerParameter, topic: z.string().optional() }),
    handle: echo,
  };

  it('passes its parameters to the operation with those from form and query string', async () => {
    const server = await serve(message);
    const answer = await server.inject({ method: 'PATCH', url: '/api/v1/messages/17?topic=a%20b' });
    expect(answer.json()).toEqual({ result: 'success', msg: '', message_id: 17, topic: 'a b' });
  });

  it('decodes its parameters, including an e-mail address of any allowed length', async () => {
    const path = '/api/v1/users/{email}';
    const server = await serve({
      method: 'GET',
      path,
      parameters: z.object({ email: z.string() }),
      handle: echo,
    });
    const email = `${'ä'.repeat(60)}+x@${'b'.repeat(190)}.example`;
    const answer = await server.inject(`/api/v1/users/${encodeURIComponent(email)}`);
    expect(answer.json().email).toBe(email);
  });

  it('treats the same names elsewhere as unknown', async () => {
    const server = await serve(message);
    const answer = await server.inject({ method: 'PATCH', url: '/api/v1/messages/17?message_id=18' });
    expect(answer.json()).toMatchObject({ message_id: 17, ignored_parameters_unsupported: ['message_id'] });
  });

  it('rejects a parameter of the wrong type with its name', async () => {
    const server = await serve(message);
    const answer = await server.inject({ method: 'PATCH', url: '/api/v1/messages/x' });
    expect([answer.statusCode, answer.json().msg]).toEqual([400, 'Invalid message_id: must be an integer']);
  });

  it('lists its methods for a wrong method, and does not match with a segment more or less', async () => {
    const server = await serve(message, { ...message, method: 'DELETE' });
    for (const method of ['GET', 'POST', 'PUT', 'OPTIONS'] as const) {
      const answer = await server.inject({ method, url: '/api/v1/messages/17' });
      expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'PATCH, DELETE']);
      expect(answer.json().allowed_methods).toEqual(['PATCH', 'DELETE']);
    }
    for (const url of ['/api/v1/messages/', '/api/v1/messages/17/history', '/api/v1/messages']) {
      expect((await server.inject({ method: 'PATCH', url })).statusCode).toBe(404);
    }
  });

  it('must have declared parameters', () => {
    const declare = () =>
      operation({
        method: 'GET',
        path: '/api/v1/messages/{message_id}',
        summary: 'A message.',
        actor: anyone,
        parameters: noParameters,
        answer: z.object({}),
        codes: [],
        handle: async () => ({}),
      });
    expect(declare).toThrow('GET /api/v1/messages/{message_id} declares no parameter message_id');
  });

  it('adds its parameters to a JSON body, with precedence over the body', async () => {
    const parameters = z.object({ id: z.string(), name: z.string() });
    const declared = { method: 'PUT', path: '/things/{id}', body: 'json', parameters } as const;
    const server = await serve({ ...declared, handle: echo });
    const put = (url: string, payload: object) => server.inject({ method: 'PUT', url, payload });
    expect((await put('/things/7', { id: '8', name: 'a' })).json()).toMatchObject({ id: '7', name: 'a' });
    expect((await put('/things/%00', { name: 'a' })).json().msg).toContain('U+0000');
    expect((await put('/things/7', ['a'])).json().code).toBe('BAD_REQUEST');
  });

  it('may be used with PUT, but a fixed path takes precedence', async () => {
    const user: TestOperation = {
      method: 'PUT',
      path: '/users/{id}',
      parameters: z.object({ id: z.string() }),
      handle: echo,
    };
    const server = await serve(user, {
      method: 'PUT',
      path: '/users/me',
      handle: async () => ({ isMe: true }),
    });
    expect((await server.inject({ method: 'PUT', url: '/users/7' })).json().id).toBe('7');
    expect((await server.inject({ method: 'PUT', url: '/users/me' })).json().isMe).toBe(true);
  });
});

describe('parameters', () => {
  const group = z.union([z.number().int(), z.object({ direct_members: z.array(z.number().int()) })]);
  const edit: TestOperation = {
    method: 'POST',
    path: '/edit',
    aliases: { subject: 'topic', number: 'count' },
    parameters: z.object({
      topic: z.string().optional(),
      members: jsonParameter(group).optional(),
      types: optionalJsonParameter(z.array(z.string('must be text'))),
      loud: booleanParameter.default(false),
      place: z.union([integerParameter, z.literal('null').transform(() => null)]).optional(),
      count: integerParameter.optional(),
    }),
    handle: echo,
  };
  const post = async (fields: Record<string, string>) => {
    const server = await serve(edit);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const payload = new URLSearchParams(fields).toString();
    return (await server.inject({ method: 'POST', url: '/edit', headers, payload })).json();
  };

  it('may have aliases, which are not reported as unknown', async () => {
    expect(await post({ subject: 'lunch' })).toEqual({
      result: 'success',
      msg: '',
      topic: 'lunch',
      loud: false,
    });
  });

  it('are refused under two names in one request', async () => {
    expect(await post({ subject: 'lunch', topic: 'dinner' })).toMatchObject({
      code: 'REQUEST_CONFUSING_VAR',
      var_name1: 'topic',
      var_name2: 'subject',
    });
  });

  it('may be one of several JSON shapes', async () => {
    expect((await post({ members: '7' })).members).toBe(7);
    expect((await post({ members: '{"direct_members":[1,2]}' })).members).toEqual({ direct_members: [1, 2] });
    expect((await post({ members: '"x"' })).msg).toMatch(/^Invalid members: /);
    expect((await post({ members: '{' })).msg).toBe('Invalid members: must be JSON');
  });

  it('are named with the path of an error inside JSON', async () => {
    expect((await post({ types: '["a",1]' })).msg).toBe('Invalid types[1]: must be text');
  });

  it('are treated as absent if they are optional and null', async () => {
    const left = await post({ types: 'null', loud: 'null', count: 'null', members: 'null' });
    expect(left).toEqual({ result: 'success', msg: '', loud: false });
  });

  it('are not duplicates if one of two names is null', async () => {
    expect((await post({ number: '7', count: 'null' })).count).toBe(7);
    expect((await post({ number: 'null', count: '7' })).count).toBe(7);
    expect((await post({ number: '7', count: '7' })).code).toBe('REQUEST_CONFUSING_VAR');
  });

  it('accept null if the schema allows it, and the string "null"', async () => {
    expect(await post({ place: 'null', topic: 'null' })).toMatchObject({ place: null, topic: 'null' });
  });

  it('are booleans only if they are true or false', async () => {
    expect((await post({ loud: 'true' })).loud).toBe(true);
    for (const other of ['1', 'True', '"true"', '']) {
      expect((await post({ loud: other })).msg).toBe('Invalid loud: must be true or false');
    }
  });
});

it.each([
  ['that is not UTF-8', '/users/%ff', 'Invalid path: must be UTF-8'],
  [
    'with a parameter that is too long',
    `/users/${'x'.repeat(500)}`,
    'Invalid path: a part of it is too long',
  ],
])('a path %s is refused with a reason', async (_what, url, msg) => {
  const server = await serve({
    method: 'GET',
    path: '/users/{id}',
    parameters: z.object({ id: z.string() }),
    handle: echo,
  });
  const answer = await server.inject(url);
  expect([answer.statusCode, answer.json()]).toEqual([400, { result: 'error', code: 'BAD_REQUEST', msg }]);
});

it('a response may be a stream', async () => {
  const server = await serve({
    method: 'GET',
    path: '/long',
    handle: async () => {
      const pieces = Readable.from(['{"result":"success","msg":"",', '"numbers":[1,', '2]}']);
      return new RawAnswer(200, { 'content-type': 'application/json; charset=utf-8' }, pieces);
    },
  });
  const answer = await server.inject('/long');
  expect(answer.headers['content-length']).toBeUndefined();
  expect(answer.json()).toEqual({ result: 'success', msg: '', numbers: [1, 2] });
});

describe('a streamed list', () => {
  const list = (pieces: () => AsyncGenerator<JsonObject[]>) =>
    serve({
      method: 'GET',
      path: '/list',
      handle: async () => new ListAnswer('entries', pieces(), {}),
    });

  it.each([
    ['no piece', []],
    ['an empty piece', [[]]],
    ['one', [[{ id: 1 }]]],
    ['several pieces, some of them empty', [[], [{ id: 1 }, { id: 2 }], [], [{ id: 3 }], []]],
  ])('is complete with %s, and lists unknown parameters', async (_name, all) => {
    const server = await list(async function* () {
      yield* all;
    });
    expect((await server.inject('/list')).json()).toEqual({
      result: 'success',
      msg: '',
      entries: all.flat(),
    });
    expect((await server.inject('/list?x=1')).json()).toEqual({
      result: 'success',
      msg: '',
      entries: all.flat(),
      ignored_parameters_unsupported: ['x'],
    });
  });

  it('becomes an error response if its first chunk fails', async () => {
    // biome-ignore lint/correctness/useYield: it fails before that
    const server = await list(async function* () {
      throw new ProtocolError('SERVICE_UNAVAILABLE');
    });
    const answer = await server.inject('/list');
    expect([answer.statusCode, answer.json().code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  });

  it('yields to other requests between chunks', async () => {
    let turns = 0;
    const server = await list(async function* () {
      setImmediate(() => turns++);
      yield [{ id: 1 }];
      yield [{ id: turns }];
    });
    expect((await server.inject('/list')).json().entries).toEqual([{ id: 1 }, { id: 1 }]);
  });
});
