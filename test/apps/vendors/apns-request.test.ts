import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { OutgoingHttpHeaders } from 'node:http2';
import { importPKCS8, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ApnsClient,
  deviceToken,
  getDeliveries,
  makeProviderToken,
  type ProviderTokenChanges,
  startTestVendors,
  type TestVendors,
  topic,
} from './vendor-clients.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const ownId = '0f4c6a3e-52f1-4f0c-8c1e-7d3b6a1d2e90';

describe('a request to APNs', () => {
  let test: TestVendors;
  let apns: ApnsClient;
  let nowSeconds: number;

  beforeAll(async () => {
    test = await startTestVendors();
    nowSeconds = Math.floor(test.clock.milliseconds / 1000);
    apns = await ApnsClient.connect(test);
  });
  afterAll(async () => {
    apns.close();
    await test.close();
  });

  it('is accepted with an empty response and an apns-id, and recorded', async () => {
    const answer = await apns.send(deviceToken, { 'apns-push-type': 'alert' }, '{"aps":{"alert":"x"},"n":1}');
    expect(answer).toMatchObject({ status: 200, body: {} });
    expect(answer.headers['apns-id']).toMatch(uuid);
    expect(answer.headers).not.toHaveProperty('apns-unique-id');
    const [delivery] = await getDeliveries(test, deviceToken);
    expect(delivery).toMatchObject({
      vendor: 'apns',
      token: deviceToken,
      environment: 'production',
      headers: { 'apns-topic': topic, 'apns-push-type': 'alert' },
      body: { aps: { alert: 'x' }, n: 1 },
      received_at: test.clock.milliseconds,
    });
  });

  it('gets a response with its own apns-id', async () => {
    const answer = await apns.send(deviceToken, { 'apns-id': ownId });
    expect(answer.headers['apns-id']).toBe(ownId);
  });

  it('gets an apns-unique-id in the sandbox, where the same provider token is valid', async () => {
    const sandbox = await ApnsClient.connect(test, 'sandbox');
    const answer = await sandbox.send('5a'.repeat(32));
    expect(answer.status).toBe(200);
    expect(answer.headers['apns-unique-id']).toMatch(uuid);
    expect(await getDeliveries(test, '5a'.repeat(32))).toMatchObject([{ environment: 'sandbox' }]);
    sandbox.close();
  });

  it('is accepted with a provider token from a JWT library', async () => {
    const { apnsKeyFile, apnsKeyId, apnsTeamId } = test.vendors.credentials;
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: apnsKeyId })
      .setIssuer(apnsTeamId)
      .setIssuedAt(nowSeconds)
      .sign(await importPKCS8(await readFile(apnsKeyFile, 'utf8'), 'ES256'));
    expect((await apns.send(deviceToken, { authorization: `Bearer ${token}` })).status).toBe(200);
  });

  it.each([
    'alert',
    'background',
    'voip',
    'complication',
    'fileprovider',
    'mdm',
    'location',
    'liveactivity',
    'pushtotalk',
    'widgets',
  ])('is accepted with the push type %s', async (pushType) => {
    const headers = { 'apns-push-type': pushType, 'apns-priority': '5', 'apns-expiration': '0' };
    expect((await apns.send(deviceToken, headers)).status).toBe(200);
  });

  it('is accepted with headers and a payload of maximum length', async () => {
    const body = (bytes: number) => `{"aps":{},"x":"${'x'.repeat(bytes - 17)}"}`;
    expect(Buffer.byteLength(body(4096))).toBe(4096);
    expect((await apns.send(deviceToken, {}, body(4096))).status).toBe(200);
    expect((await apns.send(deviceToken, { 'apns-push-type': 'voip' }, body(5120))).status).toBe(200);
    const headers = {
      'apns-collapse-id': 'x'.repeat(64),
      'apns-expiration': String(nowSeconds),
      'apns-priority': '1',
    };
    expect((await apns.send(deviceToken, headers)).status).toBe(200);
    expect((await apns.send(deviceToken, { 'apns-collapse-id': 'a, b' })).status).toBe(200);
  });

  const refused: [string, number, string, OutgoingHttpHeaders, string?][] = [
    ['a PUT', 405, 'MethodNotAllowed', { ':method': 'PUT' }],
    ['another path', 404, 'BadPath', { ':path': '/3/devices/00' }],
    ['a path below the device', 404, 'BadPath', { ':path': '/3/device/00/x' }],
    ['no device token', 400, 'MissingDeviceToken', { ':path': '/3/device/' }],
    ['a device token that is not hexadecimal', 400, 'BadDeviceToken', { ':path': '/3/device/xyz' }],
    ['no topic', 400, 'MissingTopic', { 'apns-topic': undefined }],
    ['a topic that is not a bundle id', 400, 'BadTopic', { 'apns-topic': 'not a bundle' }],
    ['an unknown push type', 400, 'InvalidPushType', { 'apns-push-type': 'loud' }],
    ['an unknown priority', 400, 'BadPriority', { 'apns-priority': '7' }],
    [
      'a background notification with priority 10',
      400,
      'BadPriority',
      { 'apns-push-type': 'background', 'apns-priority': '10' },
    ],
    ['an expiration that is not a number', 400, 'BadExpirationDate', { 'apns-expiration': 'soon' }],
    ['an expiration in milliseconds', 400, 'BadExpirationDate', { 'apns-expiration': '1773200000000' }],
    ['a collapse id of 65 bytes', 400, 'BadCollapseId', { 'apns-collapse-id': 'x'.repeat(65) }],
    ['an empty collapse id', 400, 'BadCollapseId', { 'apns-collapse-id': '' }],
    ['an apns-id that is not a UUID', 400, 'BadMessageId', { 'apns-id': '42' }],
    ['an apns-id in upper case', 400, 'BadMessageId', { 'apns-id': ownId.toUpperCase() }],
    ['two priorities', 400, 'DuplicateHeaders', { 'apns-priority': ['5', '10'] }],
    ['no payload', 400, 'PayloadEmpty', {}, ''],
    ['a payload that is not JSON', 400, 'PayloadEmpty', {}, '{'],
    ['a payload that is a list', 400, 'PayloadEmpty', {}, '[]'],
    ['an aps that is not an object', 400, 'PayloadEmpty', {}, '{"aps":1}'],
    ['a payload of 4097 bytes', 413, 'PayloadTooLarge', {}, `{"x":"${'x'.repeat(4089)}"}`],
    ['a payload of 100 kB', 413, 'PayloadTooLarge', {}, `{"x":"${'x'.repeat(100_000)}"}`],
    ['no authorization', 403, 'MissingProviderToken', { authorization: undefined }],
    ['another authorization scheme', 403, 'MissingProviderToken', { authorization: 'Basic eDp5' }],
    ['a provider token that is not a JWT', 403, 'InvalidProviderToken', { authorization: 'bearer x.y' }],
  ];
  it.each(refused)('is refused with %s: %i %s', async (_what, status, reason, headers, body) => {
    const before = (await getDeliveries(test)).length;
    const answer = await apns.send(deviceToken, headers, body);
    expect(answer).toMatchObject({ status, body: { reason } });
    expect(answer.body).not.toHaveProperty('timestamp');
    expect(answer.headers['apns-id']).toMatch(uuid);
    expect(await getDeliveries(test)).toHaveLength(before);
    expect(test.log.at(-1)).toMatch(new RegExp(`^apns production: refused with ${reason}, because .+`));
  });

  it('is refused if its payload is not UTF-8', async () => {
    const body = Buffer.from('{"aps":{"alert":"\xff"}}', 'latin1');
    expect(await apns.send(deviceToken, {}, body as never)).toMatchObject({
      body: { reason: 'PayloadEmpty' },
    });
  });

  const otherKey = () =>
    generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    }).privateKey;
  const badTokens: [string, () => ProviderTokenChanges, string][] = [
    ['signed by another key', () => ({ privateKey: otherKey() }), 'InvalidProviderToken'],
    ['of another key id', () => ({ header: { kid: 'ABCDE12345' } }), 'InvalidProviderToken'],
    ['without a key id', () => ({ header: { kid: undefined } }), 'InvalidProviderToken'],
    ['of another team', () => ({ claims: { iss: 'ABCDE12345' } }), 'InvalidProviderToken'],
    ['without a team', () => ({ claims: { iss: undefined } }), 'InvalidProviderToken'],
    ['that says RS256', () => ({ header: { alg: 'RS256' } }), 'InvalidProviderToken'],
    ['that says none', () => ({ header: { alg: 'none' } }), 'InvalidProviderToken'],
    ['without iat', () => ({ claims: { iat: undefined } }), 'InvalidProviderToken'],
    ['whose iat is a text', () => ({ claims: { iat: 'now' } }), 'InvalidProviderToken'],
    ['from six minutes ahead', () => ({ claims: { iat: nowSeconds + 360 } }), 'InvalidProviderToken'],
    [
      'that is a second older than an hour',
      () => ({ claims: { iat: nowSeconds - 3601 } }),
      'ExpiredProviderToken',
    ],
  ];
  it.each(badTokens)('is refused with a provider token %s', async (_what, changes, reason) => {
    const authorization = `bearer ${await makeProviderToken(test, changes())}`;
    expect(await apns.send(deviceToken, { authorization })).toMatchObject({ status: 403, body: { reason } });
    expect(test.log.join('\n')).not.toContain(authorization);
  });

  it('is refused with a DER-encoded signature of the provider token', async () => {
    const { sign } = await import('node:crypto');
    const [header, claims] = (await makeProviderToken(test)).split('.');
    const key = await readFile(test.vendors.credentials.apnsKeyFile, 'utf8');
    const der = sign('sha256', Buffer.from(`${header}.${claims}`), key).toString('base64url');
    const answer = await apns.send(deviceToken, { authorization: `bearer ${header}.${claims}.${der}` });
    expect(answer.body.reason).toBe('InvalidProviderToken');
  });

  it('is refused with a previously accepted provider token that is more than an hour old', async () => {
    const authorization = `bearer ${await makeProviderToken(test)}`;
    expect((await apns.send(deviceToken, { authorization })).status).toBe(200);
    const before = test.clock.milliseconds;
    test.clock.milliseconds = (nowSeconds + 3600) * 1000;
    expect((await apns.send(deviceToken, { authorization })).status).toBe(200);
    test.clock.milliseconds = (nowSeconds + 3601) * 1000;
    expect((await apns.send(deviceToken, { authorization })).body.reason).toBe('ExpiredProviderToken');
    test.clock.milliseconds = before;
  });
});
