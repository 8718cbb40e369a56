import { once } from 'node:events';
import { type Server, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ProtocolError } from '@waxwing/protocol';
import { type BoundOperation, ListAnswer, RawAnswer } from '@waxwing/service/http';
import { z } from 'zod';
import { testOperation } from '../../../../support/test-operation.js';

export const path = '/api/v1/thing';
const schema = z.object({ name: z.string(), count: z.string().regex(/^\d+$/, 'must be digits').optional() });
/** Requests that handlers received, and how their signals ended. */
export const seen: unknown[] = [];

async function* chunks() {
  yield [1, 2];
  yield [];
  yield [3];
}

/** Waits until its signal is aborted. */
const waiting = testOperation({
  method: 'GET',
  path: '/api/v1/wait',
  parameters: z.object({ as: z.string() }),
  lane: (head) => head.queryParameter('as'),
  async authenticate(head) {
    head.setActor('user:1');
  },
  async handle({ signal }) {
    seen.push('waiting');
    if (!signal.aborted) await once(signal, 'abort');
    seen.push('aborted');
    return { replaced: true };
  },
});

export const operations: readonly BoundOperation[] = [
  testOperation({
    method: 'POST',
    path,
    bodyLimitBytes: 1000,
    parameters: schema,
    async authenticate(head) {
      head.setActor(`user:${head.basicCredentials().username.length}`);
    },
    async handle({ parameters }) {
      seen.push(parameters);
      return { id: 2n ** 62n, text: 'é' };
    },
  }),
  testOperation({
    method: 'DELETE',
    path: `${path}/{name}`,
    parameters: z.object({ name: z.string() }),
    handle: async ({ parameters: { name } }) => ({ name: String(name) }),
  }),
  testOperation({
    method: 'POST',
    path: '/api/v1/json',
    body: 'json',
    parameters: z.looseObject({}),
    handle: async ({ parameters }) => ({ got: String(parameters.a) }),
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
      return head.header('If-None-Match') === '"1"' ? new RawAnswer(304, { etag: '"1"' }, undefined) : {};
    },
  }),
  testOperation({
    method: 'GET',
    path: '/api/v1/list',
    handle: async () => new ListAnswer('numbers', chunks(), { more: false }),
  }),
  waiting,
];

export const authorization = `Basic ${Buffer.from('iago@example.org:key').toString('base64')}`;
export const form = 'application/x-www-form-urlencoded';
const boundary = 'multipart/form-data; boundary=x';
const multipart = (name: string) =>
  `--x\r\ncontent-disposition: form-data; name="name"\r\n\r\n${name}\r\n--x--\r\n`;

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export const thing = (body: string | Buffer, type: string | undefined = form, more = {}): Asked => ({
  method: 'POST',
  path,
  headers: { authorization, ...(type === '' ? {} : { 'content-type': type }), ...more },
  body,
});

export const requests: Readonly<Record<string, Asked>> = {
  'a form': thing('name=Bj%C3%B6rn+B&count=3'),
  'parameters in a form and the query': { ...thing('name=a'), path: `${path}?count=4&other=1` },
  'a form in another charset': thing(Buffer.from('name=\xf6', 'latin1'), `${form}; charset=latin1`),
  'a form in an unknown charset': thing('name=a', `${form}; charset=klingon`),
  'a form that is not UTF-8': thing('name=%ff'),
  'a multipart form': thing(multipart('Zoë'), boundary),
  'a malformed multipart form': thing('--x\r\nnonsense', boundary),
  'JSON instead of a form': thing('{"name":"a"}', 'application/json'),
  'a body of another type': thing('<name>', 'text/xml'),
  'a body without a type': thing('name=a', ''),
  'a compressed body': thing('name=a', form, { 'content-encoding': 'gzip' }),
  'an empty form': thing(''),
  'no body': { method: 'POST', path, headers: { authorization } },
  'a wrong parameter': thing('name=a&count=x'),
  'a repeated parameter': thing('name=a&name=b'),
  'a body of exactly the limit': thing(`name=${'a'.repeat(995)}`),
  'a body above the limit': thing(`name=${'a'.repeat(996)}`),
  'a large body without credentials': { method: 'POST', path, body: 'a'.repeat(5000) },
  'no credentials': { method: 'POST', path, headers: { 'content-type': form }, body: 'name=a' },
  'another scheme': { method: 'POST', path, headers: { authorization: 'Bearer x' }, body: 'name=a' },
  'an escaped parameter in the path': { method: 'DELETE', path: `${path}/a%2Fb%20%C3%A9%` },
  'a parameter in the path that is not UTF-8': { method: 'DELETE', path: `${path}/a%ff` },
  'an escaped letter in the path': { path: '/api/v1/unch%61nged' },
  'JSON with a 64-bit integer': {
    method: 'POST',
    path: '/api/v1/json',
    headers: { 'content-type': 'application/json' },
    body: '{"a":9223372036854775807}',
  },
  'malformed JSON': {
    method: 'POST',
    path: '/api/v1/json',
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: '{',
  },
  'a form instead of JSON': { ...thing('a=1'), path: '/api/v1/json' },
  'an unexpected error': { path: '/api/v1/broken' },
  'an overload': { path: '/api/v1/full' },
  'an unchanged response': { path: '/api/v1/unchanged', headers: { 'if-none-match': '"1"' } },
  'a list': { path: '/api/v1/list?ignored=1' },
  'the head of a response': { method: 'HEAD', path: '/api/v1/unchanged' },
  'the head of an error': { method: 'HEAD', path: '/api/v1/full' },
  'another method': { method: 'PUT', path },
  'an unknown path': { path: '/api/v1/nothing' },
};

/** Requests that a Fastify host handles itself, because its router does not find their path. */
export const answeredByHost = [
  'an unknown path',
  'an escaped parameter in the path',
  'a parameter in the path that is not UTF-8',
];

const comparedHeaders = ['allow', 'cache-control', 'content-type', 'etag', 'retry-after', 'www-authenticate'];

/** Sends a request over a socket, and reads the whole response. */
export async function answerAt(
  server: Server,
  { method = 'GET', path: asked = '/', headers = {}, body }: Asked,
) {
  const { port } = server.address() as AddressInfo;
  const sent = send({ port, host: '127.0.0.1', method, path: asked, headers, agent: false });
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  for (const [name, value] of Object.entries(length)) sent.setHeader(name, value);
  sent.end(body);
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  const named = comparedHeaders.map((name) => [name, response.headers[name]]);
  return { status: response.statusCode, headers: Object.fromEntries(named), text };
}
