import { ProtocolError } from '@waxwing/protocol';
import { createHttpApp, RawAnswer, type ReadinessWarning } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createMemoryLog } from '../../../support/memory-log.js';
import { testOperation } from '../../../support/test-operation.js';

const path = '/api/v1/thing';
const schema = z.object({ name: z.string(), count: z.string().regex(/^\d+$/, 'must be digits').optional() });
let app: FastifyInstance;
let logged: ReturnType<typeof createMemoryLog>;
let seen: unknown[];
let databaseProblem: string | ReadinessWarning | undefined;

const operations = [
  testOperation({
    method: 'POST',
    path,
    bodyLimitBytes: 1000,
    parameters: schema,
    async authenticate(head) {
      const { username } = head.basicCredentials();
      head.setActor(`user:${username.length}`);
    },
    async handle({ parameters }) {
      seen.push(parameters);
      return { id: 2n ** 62n };
    },
  }),
  testOperation({
    method: 'POST',
    path: '/api/v1/json',
    body: 'json',
    parameters: z.looseObject({}),
    async handle({ parameters }) {
      seen.push(parameters);
      return {};
    },
  }),
  testOperation({
    method: 'GET',
    path: '/api/v1/broken',
    async handle() {
      throw new Error('the disk is on fire');
    },
  }),
  testOperation({
    method: 'GET',
    path: '/api/v1/full',
    async handle() {
      throw new ProtocolError('SERVICE_UNAVAILABLE', { retryAfterSeconds: 2.5 });
    },
  }),
  testOperation({
    method: 'GET',
    path: '/api/v1/unchanged',
    async handle({ head }) {
      return head.header('If-None-Match') === '"1"' ? new RawAnswer(304, { etag: '"1"' }, '') : {};
    },
  }),
];

beforeEach(async () => {
  logged = createMemoryLog();
  seen = [];
  databaseProblem = undefined;
  const readiness = { database: async () => databaseProblem };
  app = await createHttpApp({ log: logged.log, metrics: new Metrics(), operations, readiness });
});

afterEach(async () => {
  await app.close();
});

const authorization = `Basic ${Buffer.from('iago@example.org:key').toString('base64')}`;
const form = { authorization, 'content-type': 'application/x-www-form-urlencoded' };

async function post(payload: string, headers: Record<string, string> = form, url = path) {
  const response = await app.inject({ method: 'POST', url, headers, payload });
  return {
    status: response.statusCode,
    headers: response.headers,
    body: response.body,
    json: () => JSON.parse(response.body),
  };
}

describe('parameters', () => {
  it('come from a form without rounding, and unknown parameters are named in the response', async () => {
    const answer = await post('name=a%20b&count=3&extra=1&more=2');
    expect(seen).toEqual([{ name: 'a b', count: '3' }]);
    expect(answer.body).toBe(
      '{"result":"success","msg":"","id":4611686018427387904,"ignored_parameters_unsupported":["extra","more"]}\n',
    );
  });

  it('also come from a multipart form and from the query string', async () => {
    const boundary = 'x';
    const part = `--x\r\ncontent-disposition: form-data; name="name"\r\n\r\nmulti\r\n--x--\r\n`;
    const headers = { authorization, 'content-type': `multipart/form-data; boundary=${boundary}` };
    expect((await post(part, headers, `${path}?count=7`)).status).toBe(200);
    expect(seen).toEqual([{ name: 'multi', count: '7' }]);
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'text/plain'])(
    'come unchanged from parts of type %s',
    async (type) => {
      const part = (name: string, value: string) =>
        `--x\r\ncontent-disposition: form-data; name="${name}"\r\ncontent-type: ${type}\r\n\r\n${value}\r\n`;
      const headers = { authorization, 'content-type': 'multipart/form-data; boundary=x' };
      const payload = `${part('name', '"é"')}${part('count', '9223372036854775807')}--x--\r\n`;
      expect((await post(payload, headers)).status).toBe(200);
      expect(seen).toEqual([{ name: '"é"', count: '9223372036854775807' }]);
    },
  );

  it.each([
    ['missing', 'count=1', 'REQUEST_VARIABLE_MISSING', "Missing 'name' argument"],
    ['mistyped', 'name=a&count=x', 'BAD_REQUEST', 'Invalid count: must be digits'],
    ['repeated', 'name=a&name=b', 'BAD_REQUEST', "Argument 'name' was sent more than once"],
    ['zero', 'name=a%00b', 'BAD_REQUEST', 'Invalid name: must not contain the character U+0000'],
  ])('are refused by name if they are %s', async (_what, payload, code, msg) => {
    const answer = await post(payload);
    expect([answer.status, answer.json().code, answer.json().msg]).toEqual([400, code, msg]);
    expect(seen).toEqual([]);
  });

  it('are refused if they come from two places', async () => {
    const answer = await post('name=a', form, `${path}?name=b`);
    expect(answer.json().msg).toBe("Argument 'name' was sent more than once");
  });
});

describe('bodies', () => {
  it.each([
    ['a form', form, `name=${'a'.repeat(1000)}`],
    [
      'a multipart form',
      { authorization, 'content-type': 'multipart/form-data; boundary=x' },
      `--x\r\ncontent-disposition: form-data; name="name"\r\n\r\n${'a'.repeat(1000)}\r\n--x--\r\n`,
    ],
    [
      'a multipart form of JSON',
      { authorization, 'content-type': 'multipart/form-data; boundary=x' },
      `--x\r\ncontent-disposition: form-data; name="name"\r\ncontent-type: application/json\r\n\r\n${'1'.repeat(1000)}\r\n--x--\r\n`,
    ],
  ])('are refused if they are too large (%s)', async (_kind, headers, payload) => {
    const answer = await post(payload, headers);
    expect([answer.status, answer.json().code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(seen).toEqual([]);
  });

  it('are refused if they have another type, but only after the credentials', async () => {
    const text = { 'content-type': 'text/plain' };
    expect((await post('name=a', text)).status).toBe(401);
    const answer = await post('name=a', { ...text, authorization });
    expect([answer.status, answer.json().code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect((await post('{"name":"a"}', { authorization, 'content-type': 'application/json' })).status).toBe(
      415,
    );
  });

  it('are refused if they contain files or never end', async () => {
    const headers = { authorization, 'content-type': 'multipart/form-data; boundary=x' };
    const file = `--x\r\ncontent-disposition: form-data; name="name"; filename="a.txt"\r\n\r\nmulti\r\n--x--\r\n`;
    expect((await post(file, headers)).json()).toMatchObject({
      code: 'BAD_REQUEST',
      msg: 'Files are not accepted',
    });
    expect((await post('--x\r\nnonsense', headers)).json().code).toBe('BAD_REQUEST');
    expect(seen).toEqual([]);
  });

  it('may contain 64-bit integers in JSON without rounding, and are refused if malformed', async () => {
    const headers = { 'content-type': 'application/json' };
    await post('{"id":9223372036854775807}', headers, '/api/v1/json');
    expect(seen).toEqual([{ id: 9223372036854775807n }]);
    const malformed = await post('{"id":', headers, '/api/v1/json');
    expect([malformed.status, malformed.json().msg]).toEqual([400, 'Malformed JSON in the request body']);
    expect((await post('id=1', form, '/api/v1/json')).status).toBe(415);
  });
});

/** Returns basic credentials in a header of this many characters. */
function basicHeader(characters: number): string {
  return `Basic ${btoa(`iago@example.org:${'k'.repeat(characters)}`)}`.slice(0, characters);
}

describe('credentials', () => {
  it('may have 4096 characters, and a scheme in upper or lower case', async () => {
    for (const value of [basicHeader(4096), authorization.replace('Basic', 'bASIC')]) {
      expect((await post('name=a', { ...form, authorization: value })).status).toBe(200);
    }
  });

  it.each([
    ['none', undefined, 401, 'Missing authorization header for basic auth'],
    ['another scheme', 'Bearer x', 400, 'This endpoint requires HTTP basic authentication.'],
    ['no base64', 'Basic ?', 401, 'Invalid authorization header for basic auth'],
    ['no colon', `Basic ${btoa('ab')}`, 401, 'Invalid authorization header for basic auth'],
    ['two colons', `Basic ${btoa('a:b:c')}`, 401, 'Invalid authorization header for basic auth'],
    ['a zero', `Basic ${btoa('a\0b:c')}`, 401, 'Invalid authorization header for basic auth'],
    ['a line break', `Basic ${btoa('a:b\n')}`, 401, 'Invalid authorization header for basic auth'],
    ['no name', `Basic ${btoa(':b')}`, 401, 'Invalid authorization header for basic auth'],
    ['no password', `Basic ${btoa('a:')}`, 401, 'Invalid authorization header for basic auth'],
    ['endless', basicHeader(4097), 401, 'Invalid authorization header for basic auth'],
  ])('are refused when malformed (%s)', async (_what, value, status, msg) => {
    const { authorization: _, ...rest } = form;
    const answer = await post('name=a', value === undefined ? rest : { ...rest, authorization: value });
    expect([answer.status, answer.json().msg]).toEqual([status, msg]);
    if (status === 401) expect(answer.headers['www-authenticate']).toBe('Basic realm="zulip"');
  });
});

describe('responses', () => {
  it('hide the cause of an unexpected error, which is logged', async () => {
    const response = await app.inject('/api/v1/broken');
    expect([response.statusCode, response.json()]).toEqual([
      500,
      { result: 'error', msg: 'Internal server error', code: 'INTERNAL_SERVER_ERROR' },
    ]);
    expect(logged.text()).toContain('the disk is on fire');
  });

  it('contain Retry-After in whole seconds', async () => {
    const response = await app.inject('/api/v1/full');
    expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '3']);
  });

  it('can be raw, such as a 304', async () => {
    const response = await app.inject({ url: '/api/v1/unchanged', headers: { 'if-none-match': '"1"' } });
    expect([response.statusCode, response.headers.etag, response.body]).toEqual([304, '"1"', '']);
  });

  it('name the allowed methods of a path, and report an unknown path', async () => {
    const wrongMethod = await app.inject({ method: 'DELETE', url: `${path}?a=b` });
    expect([wrongMethod.statusCode, wrongMethod.headers.allow, wrongMethod.json().code]).toEqual([
      405,
      'POST',
      'METHOD_NOT_ALLOWED',
    ]);
    const nowhere = await app.inject('/nowhere');
    expect([nowhere.statusCode, nowhere.json().code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('the service', () => {
  it('writes one log line per request, with the path pattern but no query, body or header', async () => {
    await post('name=secretvalue', form, `${path}?count=424242`);
    const lines = logged.lines();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ operation: `POST ${path}`, status: 200, actor: 'user:16' });
    for (const secret of ['secretvalue', '424242', 'iago', authorization])
      expect(logged.text()).not.toContain(secret);
  });

  it('is ready while all checks pass, and logs the reason for a failed check once', async () => {
    const told = () => logged.lines().filter(({ check }) => check === 'database');
    expect((await app.inject('/health/ready')).statusCode).toBe(200);
    expect(told()).toEqual([]);
    databaseProblem = 'the database does not answer';
    const response = await app.inject('/health/ready');
    expect([response.statusCode, response.json()]).toEqual([
      503,
      { ready: false, checks: { database: 'not ok' } },
    ]);
    await app.inject('/health/ready');
    expect(told()).toMatchObject([{ level: 'warn', msg: 'not ready: the database does not answer' }]);
    databaseProblem = undefined;
    expect((await app.inject('/health/ready')).json()).toEqual({ ready: true, checks: { database: 'ok' } });
    expect(told()).toMatchObject([{ level: 'warn' }, { level: 'info', msg: 'ready again' }]);
    databaseProblem = { warning: 'the database is slow' };
    const warned = await app.inject('/health/ready');
    expect([warned.statusCode, warned.json()]).toEqual([
      200,
      { ready: true, checks: { database: 'warning' } },
    ]);
    expect(told().slice(2)).toMatchObject([{ level: 'warn', msg: 'ready, but the database is slow' }]);
    databaseProblem = undefined;
    expect((await app.inject('/health/live')).statusCode).toBe(200);
  });

  it.each(['/health/live', '/health/ready'])('allows only GET and HEAD for %s', async (url) => {
    const response = await app.inject({ method: 'POST', url });
    expect([response.statusCode, response.json()]).toMatchObject([
      405,
      { code: 'METHOD_NOT_ALLOWED', allowed_methods: ['GET', 'HEAD'] },
    ]);
  });

  it('also logs a request with an unparsable path', async () => {
    await app.inject('/%ff');
    expect(logged.lines()).toMatchObject([{ operation: 'none', status: 400, code: 'BAD_REQUEST' }]);
  });
});
