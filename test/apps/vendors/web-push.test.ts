import { createECDH, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestVendors, type TestVendors } from './vendor-clients.js';

let test: TestVendors;
let ca: string;
beforeAll(async () => {
  test = await startTestVendors();
  ca = readFileSync(test.vendors.credentials.caFile, 'utf8');
});
afterAll(() => test.close());

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const point = pointOf(publicKey);
const soon = () => Math.floor(Date.now() / 1000) + 3600;

function pointOf(key: KeyObject): string {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const bytes = [Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')];
  return Buffer.concat(bytes).toString('base64url');
}

interface Push {
  readonly claims?: object;
  readonly algorithm?: string;
  readonly key?: string;
  readonly signer?: KeyObject;
  readonly headers?: Record<string, string | undefined>;
  readonly body?: Buffer;
  readonly path?: string;
  readonly method?: string;
}

function authorizationOf({ claims = {}, algorithm = 'ES256', key = point, signer = privateKey }: Push) {
  const all = { aud: test.vendors.urls.webPush, exp: soon(), sub: 'mailto:a@b.example', ...claims };
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${encode({ typ: 'JWT', alg: algorithm })}.${encode(all)}`;
  const signature = sign('sha256', Buffer.from(text), { key: signer, dsaEncoding: 'ieee-p1363' });
  return `vapid t=${text}.${signature.toString('base64url')}, k=${key}`;
}

function push(options: Push = {}): Promise<number | undefined> {
  const { path = '/push/phone', method = 'POST', body = Buffer.alloc(200, 1) } = options;
  const headers = Object.entries({
    authorization: authorizationOf(options),
    'content-encoding': 'aes128gcm',
    ttl: '60',
    ...options.headers,
  }).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new Promise((resolve, reject) => {
    const sent = request(
      test.vendors.urls.webPush + path,
      { method, ca, headers: Object.fromEntries(headers) },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });

it('the push service accepts a push, and lists it with the endpoint as its token', async () => {
  expect(await push({ headers: { urgency: 'high', topic: 'a-topic' } })).toBe(201);
  const { deliveries } = (await (await fetch(`${test.vendors.urls.http}/deliveries`)).json()) as {
    deliveries: Record<string, unknown>[];
  };
  expect(deliveries).toMatchObject([
    {
      vendor: 'webpush',
      token: `${test.vendors.urls.webPush}/push/phone`,
      body: Buffer.alloc(200, 1).toString('base64'),
    },
  ]);
});

it('the push service accepts an endpoint with a query, as in UnifiedPush', async () => {
  expect(await push({ path: '/push/phone?up=1' })).toBe(201);
  const token = encodeURIComponent(`${test.vendors.urls.webPush}/push/phone?up=1`);
  const response = await fetch(`${test.vendors.urls.http}/deliveries?token=${token}`);
  const { deliveries } = (await response.json()) as { deliveries: unknown[] };
  expect(deliveries).toHaveLength(1);
});

it.each<[string, number, () => Push]>([
  ['no token', 401, () => ({ headers: { authorization: undefined } })],
  ['a token for another origin', 401, () => ({ claims: { aud: 'https://push.example' } })],
  ['an expired token', 401, () => ({ claims: { exp: soon() - 7200 } })],
  ['a token that is valid for more than a day', 401, () => ({ claims: { exp: soon() + 86_400 } })],
  ['a token without a contact', 401, () => ({ claims: { sub: undefined } })],
  ['another algorithm', 401, () => ({ algorithm: 'none' })],
  ['the signature of another key', 401, () => ({ signer: other.privateKey })],
  ['a key that is not on the curve', 401, () => ({ key: Buffer.alloc(65, 4).toString('base64url') })],
  [
    'a key in the compressed format',
    401,
    () => ({ key: createECDH('prime256v1').generateKeys('base64url', 'compressed') }),
  ],
  [
    'the key of another application',
    403,
    () => ({ key: pointOf(other.publicKey), signer: other.privateKey }),
  ],
  ['no TTL', 400, () => ({ headers: { ttl: undefined } })],
  ['an unknown urgency', 400, () => ({ headers: { urgency: 'urgent' } })],
  ['a topic that is too long', 400, () => ({ headers: { topic: 'x'.repeat(33) } })],
  ['another encoding', 415, () => ({ headers: { 'content-encoding': 'aesgcm' } })],
  ['a body without a record', 415, () => ({ body: Buffer.alloc(86) })],
  ['more than 4096 bytes', 413, () => ({ body: Buffer.alloc(4097) })],
  ['another path', 404, () => ({ path: '/other' })],
  ['another method', 405, () => ({ method: 'PUT' })],
])('the push service refuses %s with %i', async (_what, status, options) => {
  expect(await push(options())).toBe(status);
});

it('the push service responds as scripted', async () => {
  const rule = {
    vendor: 'webpush',
    token: `${test.vendors.urls.webPush}/push/phone`,
    reason: 'Gone',
    times: 1,
  };
  await fetch(`${test.vendors.urls.http}/faults`, { method: 'PUT', body: JSON.stringify({ rules: [rule] }) });
  expect([await push(), await push()]).toEqual([410, 201]);
});
